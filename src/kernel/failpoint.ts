/**
 * Named places where a test can stop, kill or delay the process. Production passes `none`, which
 * does nothing. A name is `lane.moment`, for example `send.claimed`.
 */
export type Failpoints = (name: string) => Promise<void> | void

export const noFailpoints: Failpoints = () => {}

const signals = { kill: 'SIGKILL', stop: 'SIGSTOP' } as const
type Action = keyof typeof signals

const isAction = (text: string | undefined): text is Action =>
  text !== undefined && Object.hasOwn(signals, text)

/**
 * Reads `send.sent=kill,generation.done=stop`. The first time this process reaches a named place,
 * it is killed as by kill -9, or stopped until it gets SIGCONT.
 */
export const failpointsFrom = (spec: string): Failpoints => {
  const armed = new Map<string, Action>()
  for (const part of spec.split(',')) {
    const [name = '', action] = part.trim().split('=')
    if (isAction(action)) armed.set(name, action)
  }
  if (armed.size === 0) return noFailpoints
  return (name) => {
    const action = armed.get(name)
    if (!action) return
    armed.delete(name)
    process.kill(process.pid, signals[action])
  }
}
