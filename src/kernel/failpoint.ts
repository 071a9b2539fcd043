/**
 * Named places where a test may stop, kill or delay the process. In production `none` is passed and nothing happens.
 * Names are written `lane.moment`, for example `publish.claimed`.
 */
export type Failpoints = (name: string) => Promise<void> | void

export const none: Failpoints = () => {}

const signals = { kill: 'SIGKILL', stop: 'SIGSTOP' } as const
type Action = keyof typeof signals

const isAction = (text: string | undefined): text is Action => text !== undefined && Object.hasOwn(signals, text)

/**
 * `publish.sent=kill,generation.done=stop`: kills this process, as kill -9 does, or stops it until it is told to go on, the
 * first time it passes a named place.
 */
export const failpointsFrom = (spec: string): Failpoints => {
  const armed = new Map<string, Action>()
  for (const part of spec.split(',')) {
    const [name = '', action] = part.trim().split('=')
    if (isAction(action)) armed.set(name, action)
  }
  if (armed.size === 0) return none
  return (name) => {
    const action = armed.get(name)
    if (!action) return
    armed.delete(name)
    process.kill(process.pid, signals[action])
  }
}
