package servers_test

import (
	"encoding/binary"
	"hash/crc32"
)

// storedXZ returns an xz stream of content, which it does not compress: one
// block of LZMA2 with plain chunks only.
//
// Source: https://tukaani.org/xz/xz-file-format-1.2.1.txt
func storedXZ(content []byte) []byte {
	checked := func(p []byte) []byte { return binary.LittleEndian.AppendUint32(p, crc32.ChecksumIEEE(p)) }
	padded := func(p []byte) []byte { return append(p, make([]byte, -len(p)&3)...) }

	flags := []byte{0, 1} // the check is a CRC-32
	stream := append([]byte{0xFD, '7', 'z', 'X', 'Z', 0}, checked(flags)...)

	// Its size, no sizes of the data, the filter LZMA2 with a dictionary of 4 KiB.
	block := checked([]byte{2, 0, 0x21, 1, 0, 0, 0, 0})
	for i := 0; i < len(content); i += 1 << 16 {
		chunk := content[i:min(i+1<<16, len(content))]
		control := byte(2) // plain
		if i == 0 {
			control = 1 // plain, and the dictionary begins anew
		}
		block = append(block, control)
		block = binary.BigEndian.AppendUint16(block, uint16(len(chunk)-1))
		block = append(block, chunk...)
	}
	block = append(block, 0)
	unpadded := uint64(len(block) + crc32.Size)
	block = binary.LittleEndian.AppendUint32(padded(block), crc32.ChecksumIEEE(content))
	stream = append(stream, block...)

	index := binary.AppendUvarint([]byte{0, 1}, unpadded) // one record
	index = checked(padded(binary.AppendUvarint(index, uint64(len(content)))))
	stream = append(stream, index...)

	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	stream = binary.LittleEndian.AppendUint32(stream, crc32.ChecksumIEEE(footer))
	return append(append(stream, footer...), 'Y', 'Z')
}
