/** Reads server-sent events from bytes as they arrive. */

export interface ReceivedEvent {
  id: string | undefined
  /** `message` if the server named none. */
  event: string
  data: string
}

/** In characters. No event of a job is nearly as long. */
const LONGEST = 4 * 2 ** 20

const eventOf = (block: readonly string[]): ReceivedEvent | undefined => {
  const fields = block.flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    return name === '' ? [] : [[name, value] as const]
  })
  const last = (name: string) => fields.findLast(([one]) => one === name)?.[1]
  const data = fields.flatMap(([name, value]) => (name === 'data' ? [value] : []))
  return data.length === 0
    ? undefined
    : { id: last('id'), event: last('event') || 'message', data: data.join('\n') }
}

/** Takes pieces of a stream and returns the events that each completes. Comments are dropped. */
export const eventReader = (): ((bytes: Uint8Array) => ReceivedEvent[]) => {
  const decoder = new TextDecoder()
  let text = ''
  let block: string[] = []
  return (bytes) => {
    text += decoder.decode(bytes, { stream: true })
    // A carriage return at the end may be the first half of a line end.
    const lines = text.split(/\r\n|\n|\r(?!$)/)
    text = lines.pop()!
    if (text.length > LONGEST || block.length > LONGEST / 64)
      throw new Error('an event of the stream is too long')
    const events: ReceivedEvent[] = []
    for (const line of lines) {
      if (line !== '') {
        block.push(line)
        continue
      }
      const event = eventOf(block)
      if (event) events.push(event)
      block = []
    }
    return events
  }
}
