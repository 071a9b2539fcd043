/** The queue as a model reads it: what waits for whom, with the ids that the tools take. */
import type { Static } from '@sinclair/typebox'
import type { Item as ItemSchema, ItemStatus } from '#contract/growth/items'
import type { McpContext } from './context.ts'
import { cut, MOST_CHARACTERS } from './truncate.ts'

export type QueuedItem = Static<typeof ItemSchema>

interface Section {
  status: Static<typeof ItemStatus>
  title: string
  next: string
  most: number
}

/** In the order in which they need somebody. */
const sections: readonly Section[] = [
  {
    status: 'publish_unconfirmed',
    title: 'In doubt',
    next: 'Maybe posted, maybe not. With "a person must look": ask the person to look at the account; growth_mark_item_posted settles it.',
    most: 10,
  },
  {
    status: 'drafted',
    title: 'Waiting for approval',
    next: 'For the person to decide: growth_approve_item (with edited_body if they change it) or growth_reject_item.',
    most: 25,
  },
  {
    status: 'publish_failed',
    title: 'Refused by the network',
    next: 'growth_post_item or growth_schedule_item try again, growth_reject_item gives up.',
    most: 10,
  },
  {
    status: 'approved',
    title: 'Approved',
    next: 'Scheduled ones go out when due; growth_schedule_item, growth_unschedule_item and growth_post_item act on these.',
    most: 25,
  },
]

/** Longer bodies are cut here: the item's own resource has all of it. */
const LONGEST_BODY = 1_200
/** Room for the notes about what is left out. */
const RESERVE = 2_000

const LINES = /\r\n|[\n\r\u2028\u2029\u0085]/

/** Quoted line by line, so that nothing in a body can look like a heading of ours. */
const quoted = (text: string): string =>
  text
    .split(LINES)
    .map((line) => `> ${line}`)
    .join('\n')

const inOneLine = (text: string, most: number): string => cut(text.split(LINES).join(' ').trim(), most)

const stateOf = ({ status, post_at, on_missed, review, created_at }: QueuedItem): string => {
  if (status === 'approved' && post_at) return `scheduled for ${String(post_at)}${on_missed ? `, when missed: ${on_missed}` : ''}`
  if (status === 'approved') return 'not scheduled'
  if (status === 'publish_unconfirmed') return review ? 'a person must look' : 'being looked up by itself'
  return `drafted at ${String(created_at)}`
}

const shown = (item: QueuedItem): string => {
  const body = item.body.length > LONGEST_BODY ? `${cut(item.body, LONGEST_BODY)}\n(All of it: tendril://items/${item.id})` : item.body
  const lines = [`### ${item.id}`, `${item.kind}, ${item.length} characters, ${stateOf(item)}`, '', quoted(body)]
  if (item.status === 'drafted') lines.push('', `Why: ${inOneLine(item.rationale, 300)}`)
  if (item.last_error) lines.push('', `Last error: ${inOneLine(item.last_error, 300)}`)
  return lines.join('\n')
}

interface Page {
  items: QueuedItem[]
  next_cursor: string | null
}

/** A section as far as it fits in `room` characters. */
const render = ({ title, next, status }: Section, { items, next_cursor }: Page, room: number): string => {
  const parts = [`## ${title}`, next]
  let [left, fitting] = [room, 0]
  for (const text of items.map(shown)) {
    if (text.length > left) break
    parts.push(text)
    left -= text.length
    fitting++
  }
  if (next_cursor !== null || fitting < items.length) parts.push(`There are more: growth_list_queue with status ${status} lists all.`)
  return parts.join('\n\n')
}

/** Markdown, of at most `MOST_CHARACTERS`. */
export const queueText = async ({ run }: McpContext): Promise<string> => {
  const parts = ['# Queue', 'Nothing goes out without the approval of a person. The heading of each item is its id.']
  let room = MOST_CHARACTERS - RESERVE
  for (const section of sections) {
    const page: Page = JSON.parse((await run('growth.items.list', { status: section.status, limit: section.most })).body)
    if (page.items.length === 0) continue
    const text = render(section, page, room)
    parts.push(text)
    room = Math.max(0, room - text.length)
  }
  if (parts.length === 2) parts.push('It is empty: growth_create_batch drafts posts.')
  return `${parts.join('\n\n')}\n`
}
