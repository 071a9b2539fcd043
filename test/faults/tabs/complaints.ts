/**
 * What browsers write to the console: what is expected of lost connections, and everything else.
 */
import type { BrowserContext } from 'playwright-core'

export interface Complaint {
  at: number
  text: string
}

export interface Happened {
  name: string
  from: number
  to: number
}

/** Chromium itself says these of a request; after which scenes, and for how long. */
const LOST = [
  'restart',
  'kill',
  'kill both',
  'cut',
  'away',
  'owner restart',
  'upgrade',
  'two builds',
]
const EXPECTED: { name: string; says: RegExp; after: readonly string[] }[] = [
  {
    name: 'connections',
    says: /net::ERR_(CONNECTION_(RESET|REFUSED|CLOSED)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|SOCKET_NOT_CONNECTED|CONTENT_LENGTH_MISMATCH)/,
    after: LOST,
  },
  { name: 'unavailable', says: /status of 503/, after: [...LOST, 'counted out'] },
  { name: 'ended_tokens', says: /status of 401/, after: ['token'] },
  { name: 'stale_texts', says: /status of 409/, after: ['edited elsewhere'] },
  { name: 'missing_pages', says: /status of 404|MissingPage/, after: ['upgrade'] },
]
const AFTERWARDS_MS = 25_000

export const listenFor = (context: BrowserContext): Complaint[] => {
  const complaints: Complaint[] = []
  const note = (text: string) => void complaints.push({ at: Date.now(), text })
  context.on('console', (message) =>
    note(`${message.type()}: ${message.text()} (${message.location().url})`),
  )
  context.on('weberror', (error) => note(`uncaught: ${error.error().message}`))
  return complaints
}

export const sortComplaints = (
  complaints: readonly Complaint[],
  happened: readonly Happened[],
): { expected: Record<string, number>; others: string[] } => {
  const expected = Object.fromEntries(EXPECTED.map(({ name }) => [name, 0]))
  const others: string[] = []
  for (const { at, text } of complaints) {
    const of = EXPECTED.find(
      ({ says, after }) =>
        says.test(text) &&
        happened.some(
          ({ name, from, to }) => after.includes(name) && at >= from && at <= to + AFTERWARDS_MS,
        ),
    )
    if (of) expected[of.name]!++
    else others.push(text)
  }
  return { expected, others }
}
