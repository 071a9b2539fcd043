/** A client of server-sent events. */

interface SentEvent {
  id: number | undefined
  type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any
}

export interface EventClient extends AsyncDisposable {
  response: Response
  /** The events so far. */
  events: SentEvent[]
  comments: number
  /** The whole text so far. */
  text: string
  /** Resolves with the first matching event, past or future; rejects if the stream ends first. */
  until(fits: (event: SentEvent) => boolean): Promise<SentEvent>
  /** Resolves with all events when the server has ended the stream, or the connection broke. */
  ended(): Promise<SentEvent[]>
}

export interface StreamRequest {
  key: string
  /** The id of the last event. */
  last?: number | string
  headers?: Record<string, string>
}

const eventOf = (block: string): SentEvent | undefined => {
  const fields = new Map(
    block
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const [id, type, data] = ['id', 'event', 'data'].map((name) => fields.get(name))
  return data === undefined
    ? undefined
    : { id: id === undefined ? undefined : Number(id), type: type!, data: JSON.parse(data) }
}

export const openStream = async (
  url: string,
  { key, last, headers = {} }: StreamRequest,
): Promise<EventClient> => {
  const given = new AbortController()
  const sent = { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers }
  const response = await fetch(url, {
    headers: last === undefined ? sent : { ...sent, 'last-event-id': String(last) },
    signal: given.signal,
  })
  let wake = Promise.withResolvers<void>()
  let isOver = false
  const take = (block: string): void => {
    if (block.startsWith(':')) client.comments++
    const event = eventOf(block)
    if (event) client.events.push(event)
  }
  const read = async (): Promise<void> => {
    let rest = ''
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      client.text += piece
      const blocks = (rest + piece).split('\n\n')
      rest = blocks.pop()!
      blocks.forEach(take)
      wake.resolve()
      wake = Promise.withResolvers()
    }
  }
  const client: EventClient = {
    response,
    events: [],
    comments: 0,
    text: '',
    async until(fits) {
      for (;;) {
        const found = client.events.find(fits)
        if (found) return found
        if (isOver) throw new Error(`the stream ended before: ${client.text}`)
        await wake.promise
      }
    },
    async ended() {
      await reading
      return client.events
    },
    async [Symbol.asyncDispose]() {
      given.abort()
      await reading
    },
  }
  const reading = read()
    .catch(() => {})
    .finally(() => {
      isOver = true
      wake.resolve()
    })
  return client
}
