/** One request to a server of the AT Protocol, of whatever kind. */
import { type Called, callOnce } from '#port/egress/call'
import type { Egress } from '#port/egress/egress'

export interface SentOnce {
  url: string
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  maxBytes?: number | undefined
}

const DEADLINE_MS = 10_000
export const MOST_ANSWER_BYTES = 1_048_576
const AGENT = 'Tendril-Networks/1'

/** Never throws. */
export const sendOnce = (
  egress: Egress,
  { url, method, headers, body = '', maxBytes = MOST_ANSWER_BYTES }: SentOnce,
  signal: AbortSignal,
): Promise<Called> =>
  callOnce(egress, {
    url,
    method,
    headers: { accept: 'application/json', 'user-agent': AGENT, ...headers },
    body,
    maxBytes,
    deadlineMs: DEADLINE_MS,
    signal,
  })
