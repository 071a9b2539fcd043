/**
 * What a post has beside its text: who it mentions, and the card of its first link. Both are looked
 * up when the text is written. Writing the record asks nobody.
 */
import { type FoundMarks, LONGEST_CARD, MOST_MENTIONS } from '#contract/records/growth/marks'
import { readPageHead, Unreadable } from '#port/egress/page'
import { EgressRefused } from '#port/egress/target'
import type { MarksMade, MarksRequest } from '../marks.ts'
import { type NetworkAccount, NetworkError } from '../network.ts'
import { type BlueskySettings, blueskyCredentialsOf } from './account.ts'
import { ownerOfHandle } from './identity.ts'
import { linksIn, mentionsIn } from './rich-text.ts'
import { plainWords } from './xrpc.ts'

type Card = FoundMarks['card']
type Request = MarksRequest<NetworkAccount>

/** What could not be had may be had later. */
const LATER = Symbol('later')

/** For all that a text needs together. */
const DEADLINE_MS = 5_000
const [TOO_MANY, SERVER_ERROR] = [429, 500]

interface Places {
  /** The server that is asked about handles. */
  at: string
  /** Where its people have their handles. */
  service: string
}

const placesOf = (settings: BlueskySettings, account: NetworkAccount): Places => {
  try {
    const credentials = blueskyCredentialsOf(settings, account)
    const service = 'service' in credentials ? credentials.service : credentials.issuer
    return { at: credentials.pds, service }
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    return { at: settings.service, service: settings.service }
  }
}

/** Looking one up asks the host that it names, unless it is one that the service gives. */
const mayLookUp = (handle: string, { service }: Places, mayAsk: Request['mayAsk']): boolean =>
  mayAsk(`https://${handle}/`) || handle.endsWith(`.${new URL(service).hostname}`)

const idOf = async (
  settings: BlueskySettings,
  asked: { handle: string; at: string },
  signal: AbortSignal,
): Promise<string | null | typeof LATER> => {
  try {
    return (await ownerOfHandle(settings, asked, signal))?.did ?? null
  } catch (cause) {
    if (!(cause instanceof NetworkError)) throw cause
    return cause.reason === 'bad_answer' ? null : LATER
  }
}

const cardOf = async (
  { egress }: BlueskySettings,
  { text, mayAsk }: Request,
  signal: AbortSignal,
): Promise<Card | typeof LATER> => {
  const url = linksIn(text.toWellFormed())[0]?.uri
  if (url === undefined || !mayAsk(url)) return null
  try {
    const asked = { url, mayFollow: mayAsk, deadlineMs: DEADLINE_MS, signal }
    const { status, head } = await readPageHead(egress, asked)
    if (status === TOO_MANY || status >= SERVER_ERROR) return LATER
    if (head === null || status >= 300) return null
    const title = plainWords(head.title, LONGEST_CARD.title)
    const description = plainWords(head.description, LONGEST_CARD.description)
    return title === '' ? null : { url, title, description }
  } catch (cause) {
    return cause instanceof EgressRefused || cause instanceof Unreadable ? null : LATER
  }
}

/** Never throws. */
export const makeMarks = async (
  settings: BlueskySettings,
  request: Request,
  signal: AbortSignal,
): Promise<MarksMade> => {
  const { account, text, mayAsk } = request
  const ended = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)])
  const places = placesOf(settings, account)
  const named = new Set(mentionsIn(text.toWellFormed()).map(({ handle }) => handle))
  const handles = [...named]
    .filter((handle) => mayLookUp(handle, places, mayAsk))
    .slice(0, MOST_MENTIONS)
  const { at } = places
  const [card, ...ids] = await Promise.all([
    cardOf(settings, request, ended),
    ...handles.map((handle) => idOf(settings, { handle, at }, ended)),
  ])
  const mentions = handles.flatMap((handle, index) => {
    const id = ids[index]
    return typeof id === 'string' ? [{ handle, id }] : []
  })
  const isWhole = card !== LATER && !ids.includes(LATER)
  return { marks: { mentions, card: card === LATER ? null : card }, isWhole }
}
