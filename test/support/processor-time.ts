/**
 * The processor time of this process in `work`, in µs: the least of three runs, because collecting
 * garbage only adds. Unlike elapsed time it hardly depends on what else the machine does, so
 * multiples of it can be asserted.
 */
export const processorTime = (work: (run: number) => void): number =>
  Math.min(
    ...Array.from({ length: 3 }, (_, run) => {
      const started = process.cpuUsage()
      work(run)
      const { user, system } = process.cpuUsage(started)
      return user + system
    }),
  )
