/** What a program and other people do meanwhile in the workspace, over HTTP. */
import { newId } from '#kernel/ids'
import type { TwoServers } from './servers.ts'
import type { Commit, Shown, Watch } from './watch.ts'

/** A draft that waits. Its mark, such as k17, is its text's first word. */
export interface Draft {
  id: string
  mark: string
  revision: number
  /** Until every tab shows it, nothing else happens to the draft. */
  last: Commit | undefined
}

export interface Writing {
  servers: TwoServers
  watch: Watch
  next(): number
  /** Drafts that nobody has in a tab. */
  pool: Draft[]
  marks: { count: number }
  automation: { isPaused: boolean; last: Commit | undefined }
  /** Decisions that were answered: the status that each item must have at the end. */
  decided: Map<string, string>
  wrong: string[]
}

const PATIENCE_MS = 20_000
const GIVE_UP_MS = 60_000
const RETRY_MS = 150

interface Answer {
  sent: number
  answered: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of the API
  body: any
}

/**
 * Repeats the request with one key until it is answered. `sent`: when the one that was answered was
 * sent.
 */
export const sendByKey = async (
  { servers }: Pick<Writing, 'servers'>,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> => {
  const { address, home } = servers
  const headers = {
    authorization: `Bearer ${home.key}`,
    'content-type': 'application/json',
    'idempotency-key': newId(),
  }
  const until = Date.now() + GIVE_UP_MS
  let said = 'nothing'
  while (Date.now() < until) {
    const sent = Date.now()
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) }
    const reply = await fetch(`${address.url}/api/v1/growth/${path}`, init).catch(() => undefined)
    const text = await reply?.text().catch(() => undefined)
    if (reply?.ok && text !== undefined)
      return { sent, answered: Date.now(), body: JSON.parse(text) }
    said = `${reply?.status} ${text?.slice(0, 200)}`
    if (reply && ![429, 502, 503].includes(reply.status) && !said.includes('idempotency_in_flight'))
      break
    await Bun.sleep(RETRY_MS)
  }
  throw new Error(`${method} ${path}: ${said}`)
}

const has =
  (mark: string) =>
  ({ rows }: Shown) =>
    rows?.includes(mark) ?? false
export const lacks =
  (mark: string) =>
  ({ rows }: Shown) =>
    rows !== null && !rows.includes(mark)

const newMark = ({ marks }: Writing): string => `k${++marks.count}`

export const writeDraft = async (writing: Writing): Promise<Draft> => {
  const mark = newMark(writing)
  const body = { body: `${mark} is a draft that waits.` }
  const { sent, answered, body: reply } = await sendByKey(writing, 'POST', 'items', body)
  const what = `${mark} was written`
  const last = writing.watch.add({ what, sent, answered, isShown: has(mark) })
  return { id: reply.item.id, mark, revision: reply.item.revision, last }
}

const editDraft = async (writing: Writing, draft: Draft): Promise<void> => {
  const before = draft.mark
  const mark = newMark(writing)
  const body = { body: `${mark} was ${before}.`, revision: draft.revision }
  const {
    sent,
    answered,
    body: reply,
  } = await sendByKey(writing, 'PATCH', `items/${draft.id}`, body)
  const what = `${before} became ${mark}`
  Object.assign(draft, { mark, revision: reply.item.revision })
  draft.last = writing.watch.add({ what, sent, answered, isShown: has(mark) })
}

const DECISIONS = { approve: 'approved', reject: 'rejected' } as const

const decideDraft = async (
  writing: Writing,
  draft: Draft,
  how: keyof typeof DECISIONS,
): Promise<void> => {
  writing.pool.splice(writing.pool.indexOf(draft), 1)
  const { sent, answered } = await sendByKey(writing, 'POST', `items/${draft.id}/${how}`, {})
  writing.decided.set(draft.id, DECISIONS[how])
  const what = `${draft.mark} was ${DECISIONS[how]}`
  writing.watch.add({ what, sent, answered, isShown: lacks(draft.mark) })
}

const turnAutomation = async (writing: Writing): Promise<void> => {
  const { automation } = writing
  const to = automation.isPaused ? 'running' : 'paused'
  const path = automation.isPaused ? 'automation/resume-all' : 'automation/pause-all'
  const { sent, answered } = await sendByKey(writing, 'POST', path, {})
  automation.isPaused = to === 'paused'
  const isShown = (shown: Shown) => shown.automation === to
  automation.last = writing.watch.add({ what: `automation is ${to}`, sent, answered, isShown })
}

const LEAST = 3
const MOST = 5

/** One thing that changes what all tabs show. Undefined: nothing can be done at the moment. */
const actOf = (writing: Writing): (() => Promise<void>) | undefined => {
  const { pool, next, watch, automation } = writing
  const isFree = (last: Commit | undefined): boolean => !last || watch.hasEverybody(last)
  const write = async () => void pool.push(await writeDraft(writing))
  if (pool.length < LEAST) return write
  if (next() < 0.15 && isFree(automation.last)) return () => turnAutomation(writing)
  if (pool.length < MOST && next() < 0.5) return write
  const draft = pool.filter(({ last }) => isFree(last))[0]
  if (!draft) return undefined
  if (next() < 0.4) return () => editDraft(writing, draft)
  return () => decideDraft(writing, draft, next() < 0.5 ? 'approve' : 'reject')
}

/** So that there is a list. */
export const firstDrafts = async (writing: Writing): Promise<void> => {
  while (writing.pool.length < LEAST)
    writing.pool.push({ ...(await writeDraft(writing)), last: undefined })
  writing.watch.commits.length = 0
}

const SHORTEST_MS = 500
const LONGEST_MS = 2_500

/** Goes on until the signal. */
export const goOnWriting = async (writing: Writing, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await actOf(writing)?.().catch((cause) => void writing.wrong.push(String(cause)))
    await Bun.sleep(SHORTEST_MS + writing.next() * (LONGEST_MS - SHORTEST_MS))
  }
}
