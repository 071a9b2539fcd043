/** The queue as Markdown for a model: each item with its id and the tools that apply. */
import type { Static } from '@sinclair/typebox'
import type { ItemSchema, ItemStatusSchema } from '#contract/records/growth/item'
import { cut, MAX_CHARACTERS } from './answer/truncate.ts'
import type { McpContext } from './context.ts'

export type QueuedItem = Static<typeof ItemSchema>

interface Section {
  status: Static<typeof ItemStatusSchema>
  title: string
  next: string
  most: number
}

/** In order of urgency, the most urgent first. */
const sections: readonly Section[] = [
  {
    status: 'publish_unconfirmed',
    title: 'In doubt',
    next: 'These may or may not have been posted. If a person must check, ask them to look at the account; growth_mark_item_posted marks an item that they found there.',
    most: 10,
  },
  {
    status: 'drafted',
    title: 'Awaiting approval',
    next: 'The person decides: growth_approve_item (with edited_body if they change the text) or growth_reject_item.',
    most: 25,
  },
  {
    status: 'publish_failed',
    title: 'Refused by the network',
    next: 'To try again, call growth_post_item or growth_schedule_item. To give up, call growth_reject_item.',
    most: 10,
  },
  {
    status: 'approved',
    title: 'Approved',
    next: 'Scheduled items are posted when due. growth_schedule_item, growth_unschedule_item and growth_post_item apply here.',
    most: 25,
  },
]

/** Longer bodies are truncated. The item's own resource has the full text. */
const LONGEST_BODY = 1_200
/** Room for the notes about omitted items. */
const RESERVE = 2_000

const LINES = /\r\n|[\n\r\u2028\u2029\u0085]/

/** Quotes every line, so that no part of a body can pass for a heading. */
const quote = (text: string): string =>
  text
    .split(LINES)
    .map((line) => `> ${line}`)
    .join('\n')

const inOneLine = (text: string, most: number): string =>
  cut(text.split(LINES).join(' ').trim(), most)

const stateOf = ({ status, post_at, on_missed, review, created_at }: QueuedItem): string => {
  if (status === 'approved' && post_at)
    return `scheduled for ${String(post_at)}${on_missed ? `, when missed: ${on_missed}` : ''}`
  if (status === 'approved') return 'not scheduled'
  if (status === 'publish_unconfirmed')
    return review ? 'a person must check' : 'Tendril is checking the timeline'
  return `drafted at ${String(created_at)}`
}

const renderItem = (item: QueuedItem): string => {
  const body =
    item.body.length > LONGEST_BODY
      ? `${cut(item.body, LONGEST_BODY)}\n(Full text: tendril://items/${item.id})`
      : item.body
  const lines = [
    `### ${item.id}`,
    `${item.kind}, ${item.length} characters, ${stateOf(item)}`,
    '',
    quote(body),
  ]
  if (item.status === 'drafted') lines.push('', `Why: ${inOneLine(item.rationale, 300)}`)
  if (item.last_error) lines.push('', `Last error: ${inOneLine(item.last_error, 300)}`)
  return lines.join('\n')
}

interface Page {
  items: QueuedItem[]
  next_cursor: string | null
}

/** A section with as many items as fit in `room` characters. */
const render = (
  { title, next, status }: Section,
  { items, next_cursor }: Page,
  room: number,
): string => {
  const parts = [`## ${title}`, next]
  let [left, fitting] = [room, 0]
  for (const text of items.map(renderItem)) {
    if (text.length > left) break
    parts.push(text)
    left -= text.length
    fitting++
  }
  if (next_cursor !== null || fitting < items.length)
    parts.push(`There are more. growth_list_queue with status ${status} lists them all.`)
  return parts.join('\n\n')
}

/** Markdown of at most `MAX_CHARACTERS`. */
export const queueText = async ({ run }: McpContext): Promise<string> => {
  const parts = [
    '# Queue',
    "Nothing goes out without a person's approval. Each item's heading is its id.",
  ]
  let room = MAX_CHARACTERS - RESERVE
  for (const section of sections) {
    const page: Page = JSON.parse(
      (await run('growth.items.list', { status: section.status, limit: section.most })).body,
    )
    if (page.items.length === 0) continue
    const text = render(section, page, room)
    parts.push(text)
    room = Math.max(0, room - text.length)
  }
  if (parts.length === 2) parts.push('The queue is empty. growth_create_batch drafts posts.')
  return `${parts.join('\n\n')}\n`
}
