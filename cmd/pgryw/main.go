// Command pgryw shows and inspects the pgryw driver.
package main

func main() {}
