/** A client of a workspace's hints. */
import { eventually } from '../eventually.ts'
import { type EventClient, openStream, type StreamRequest } from './event-stream.ts'

interface HeardHint {
  what: string
  kind: string
  id: string | null
  by: { kind: string; id: string }
}

export interface HintClient extends EventClient {
  hints(): HeardHint[]
  /** Resolves once it was told to read again so many times. */
  resynced(times: number): Promise<void>
}

export const openHints = async (url: string, request: StreamRequest): Promise<HintClient> => {
  const stream = await openStream(`${url}/api/v1/app/events`, request)
  const count = () => stream.events.filter(({ type }) => type === 'resync').length
  return Object.assign(stream, {
    hints: () => stream.events.filter(({ type }) => type === 'hint').map(({ data }) => data),
    async resynced(times: number) {
      await eventually(count, (now) => now >= times)
      if (count() < times) throw new Error(`told to read again ${count()} times`)
    },
  })
}

/** Opens them, and waits until nothing can be missed any more. */
export const followHints = async (url: string, request: StreamRequest): Promise<HintClient> => {
  const stream = await openHints(url, request)
  if (stream.response.status !== 200) throw new Error(`${stream.response.status}`)
  await stream.resynced(1)
  return stream
}
