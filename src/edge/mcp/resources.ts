/** The resources. Each is read by an operation, with all its checks. */
import { MOST_ACTIVE_LEARNINGS } from '#domain/growth/learning/learning'
import { fail } from '#kernel/errors'
import { mayRun } from '#ops/engine/access'
import { cursorTo } from '#ops/engine/paging'
import { structureAnswer } from './answer/structured.ts'
import { cut, json } from './answer/truncate.ts'
import type { McpContext } from './context.ts'
import { type QueuedItem, queueText } from './queue.ts'

export interface McpResource {
  uri: string
  name: string
  title: string
  description: string
  mimeType: string
  annotations: { audience: ('user' | 'assistant')[]; priority: number; lastModified?: string }
}

export interface ResourceText {
  uri: string
  mimeType: string
  text: string
}

/** A resource at a fixed address. */
interface Fixed {
  uri: string
  title: string
  description: string
  mimeType: string
  priority: number
  /**
   * Ids of the operations that can read it, the best first. If the caller has none of them, the
   * resource does not exist.
   */
  from: readonly string[]
  /** `operation`: the first of these that the caller may run. */
  read(context: McpContext, operation: string): Promise<string>
}

const JSON_TYPE = 'application/json'

const bodyOf = async <B extends object = Record<string, unknown>>(
  { run }: McpContext,
  id: string,
  input: object = {},
): Promise<B> => JSON.parse((await run(id, input)).body) as B

interface Overview {
  overview: { profile: object }
}

const fixed: readonly Fixed[] = [
  {
    uri: 'tendril://profile',
    title: 'Growth profile',
    description: 'Goal, audience, voice and Writing DNA: the basis of every draft.',
    mimeType: JSON_TYPE,
    priority: 1,
    from: ['growth.overview.get'],
    read: async (context, operation) =>
      json({ profile: (await bodyOf<Overview>(context, operation)).overview.profile }),
  },
  {
    uri: 'tendril://brief',
    title: 'Daily brief',
    description: 'What to do today, most urgent first.',
    mimeType: JSON_TYPE,
    priority: 0.9,
    from: ['growth.brief.get'],
    read: async (context, operation) =>
      json(
        structureAnswer(
          await bodyOf(context, operation),
          context.operations.get(operation)!.output,
        ),
      ),
  },
  {
    uri: 'tendril://queue',
    title: 'Queue',
    description: 'Items awaiting approval, approved, scheduled or in review, with ids.',
    mimeType: 'text/markdown',
    priority: 0.9,
    from: ['growth.items.list'],
    read: queueText,
  },
  {
    uri: 'tendril://learnings',
    title: 'Learnings',
    description:
      'Active learnings, which guide drafts: what worked, what flopped, and hypotheses. growth_list_learnings shows retired ones too.',
    mimeType: JSON_TYPE,
    priority: 0.7,
    from: ['growth.learnings.list'],
    async read(context, operation) {
      const active = { status: 'active', limit: MOST_ACTIVE_LEARNINGS }
      const { learnings } = await bodyOf<{ learnings: object[] }>(context, operation, active)
      return json(structureAnswer({ learnings }, context.operations.get(operation)!.output))
    },
  },
]

const ITEMS = 'growth.items.list'
const ITEM_URI = /^tendril:\/\/items\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i
/** Drafted items on one page of the resource list. */
const PAGE = 50

export const resourceTemplates = [
  {
    uriTemplate: 'tendril://items/{id}',
    name: 'item',
    title: 'Item',
    description: 'A post or article in any state: its text, why it was drafted, and its outcome.',
    mimeType: JSON_TYPE,
  },
] as const

const reachable = ({ operations, call }: McpContext, from: readonly string[]): string | undefined =>
  from.find((id) => {
    const o = operations.get(id)
    return o && mayRun(o, call)
  })

const describeResource = ({ uri, title, description, mimeType, priority }: Fixed): McpResource => ({
  uri,
  name: uri.slice('tendril://'.length),
  title,
  description,
  mimeType,
  annotations: { audience: ['user', 'assistant'], priority },
})

const TITLE = 80

const listedItem = ({ id, kind, format, body, length, updated_at }: QueuedItem): McpResource => ({
  uri: `tendril://items/${id}`,
  name: `items/${id}`,
  title: cut(body.trim().split(/[\n\r]/)[0]!, TITLE),
  description: `A drafted ${kind} awaiting approval: ${format}, ${length} characters.`,
  mimeType: JSON_TYPE,
  annotations: { audience: ['user', 'assistant'], priority: 0.5, lastModified: String(updated_at) },
})

/**
 * The resources that this caller may read, a page at a time: the fixed ones, then drafted items,
 * newest first. Throws `invalid_input` for a cursor of another list.
 */
export const listResources = async (
  context: McpContext,
  cursor?: string,
): Promise<{ resources: McpResource[]; nextCursor?: string }> => {
  const resources =
    cursor === undefined
      ? fixed.filter(({ from }) => reachable(context, from)).map(describeResource)
      : []
  if (!reachable(context, [ITEMS])) return { resources }
  const input = { status: 'drafted', limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
  const { items, next_cursor } = await bodyOf<{ items: QueuedItem[]; next_cursor: string | null }>(
    context,
    ITEMS,
    input,
  )
  return {
    resources: [...resources, ...items.map(listedItem)],
    ...(next_cursor === null ? {} : { nextCursor: next_cursor }),
  }
}

const unknown = (uri: string): never => fail('not_found', `no such resource: ${cut(uri, 200)}`)

const readFixed = async (
  context: McpContext,
  { from, read }: Fixed,
): Promise<string | undefined> => {
  // If the caller may run none of them, running the first throws the reason.
  const id = reachable(context, from) ?? from.find((one) => context.operations.has(one))
  return id === undefined ? undefined : read(context, id)
}

/** No operation reads a single item. Instead, lists the page that begins with it. */
const readItem = async (context: McpContext, id: string): Promise<string | undefined> => {
  const cursor = cursorTo(id)
  if (cursor === undefined) return undefined
  const { items } = await bodyOf<{ items: QueuedItem[] }>(context, ITEMS, { cursor, limit: 1 })
  return items[0]?.id === id ? json({ item: items[0] }) : undefined
}

/**
 * Throws `not_found` for an unknown URI, and the operation's error if the caller may not read it.
 */
export const readResource = async (
  context: McpContext,
  uri: string,
): Promise<{ contents: [ResourceText] }> => {
  const one = fixed.find((resource) => resource.uri === uri)
  const id = ITEM_URI.exec(uri)?.[1]?.toLowerCase()
  const text = one ? await readFixed(context, one) : id && (await readItem(context, id))
  return text ? { contents: [{ uri, mimeType: one?.mimeType ?? JSON_TYPE, text }] } : unknown(uri)
}
