/**
 * Named places where a test may stop, kill or delay the process. In production `none` is passed and nothing happens.
 * Names are written `lane.moment`, for example `publish.claimed`.
 */
export type Failpoints = (name: string) => Promise<void> | void

export const none: Failpoints = () => {}

/** `publish.sent=kill,generation.done=kill`: kills this process, as kill -9 does, the first time it passes a named place. */
export const failpointsFrom = (spec: string): Failpoints => {
  const armed = new Set(
    spec
      .split(',')
      .map((part) => part.trim().split('='))
      .filter(([, action]) => action === 'kill')
      .map(([name]) => name),
  )
  if (armed.size === 0) return none
  return (name) => {
    if (armed.has(name)) process.kill(process.pid, 'SIGKILL')
  }
}
