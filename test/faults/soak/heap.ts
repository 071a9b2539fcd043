/** Loaded before a server: on SIGUSR2 it writes a line about its heap to standard error. */
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  const { heapSize, heapCapacity, objectCount, objectTypeCounts } = heapStats()
  const most = Object.entries(objectTypeCounts).sort(([, a], [, b]) => b - a)
  process.stderr.write(
    `heap ${JSON.stringify({ heapSize, heapCapacity, objectCount, most: Object.fromEntries(most.slice(0, 25)) })}\n`,
  )
})
