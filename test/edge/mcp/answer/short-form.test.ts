/**
 * What a model is shown of long answers: below 8,000 tokens, and the same in text and structured
 * content.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { reports } from '#contract/growth/reports'
import { signals } from '#contract/growth/signals'
import { longestText } from '#edge/mcp/answer/long-text'
import { shortForm } from '#edge/mcp/answer/short-form'
import { tokensGuessed } from '#edge/mcp/answer/token-guess'
import { newId } from '#kernel/ids'
import { newStory, type Story } from '#test/support/growth/story'
import { connectMcp, type McpClient } from '#test/support/mcp/mcp'
import { tokensOf } from '#test/support/model/o200k'
import { use, useSharedApp } from '#test/support/use'

const app = useSharedApp()
let story: Story
beforeAll(async () => {
  story = await newStory(app)
})
const connect = ({ key }: Story): Promise<McpClient> =>
  connectMcp(app.url, { key, query: '?toolsets=all' })
const mcp = use(() => connect(story))

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Content = any

/** Of the text, and of the structured content. */
const MOST_TOKENS = 8_000

const shownBy = ({
  content,
  structuredContent,
}: CallToolResult): { text: string; body: Content } => {
  const { text } = content[0] as { text: string }
  for (const shown of [text, structuredContent])
    expect(tokensOf(shown)).toBeLessThanOrEqual(MOST_TOKENS)
  return { text, body: structuredContent }
}

/** Letters of three bytes each, as of many languages. */
const wide = (length: number) => '東京の倉庫は遅れています。'.repeat(length).slice(0, length)

const write = async (length: number, by = story): Promise<string> => {
  const { status, body } = await by.send('POST', 'items', {
    body: { kind: 'article', title: `On ${newId()}`, body: wide(length) },
  })
  expect([status, body.error]).toEqual([201, undefined])
  return body.item.id
}

describe('with sixty long items', () => {
  let full: Story
  beforeAll(async () => {
    full = await newStory(app)
    for (let done = 0; done < 60; done++) await write(4_000, full)
  })
  const mcp = use(() => connect(full))

  test('a page has as many as fit, each shortened, and its cursor leads to the others', async () => {
    const seen = new Set<string>()
    let cursor: string | null = null
    for (let pages = 0; pages < 60; pages++) {
      const { text, body } = shownBy(
        await mcp.call('growth_list_queue', { limit: 100, ...(cursor ? { cursor } : {}) }),
      )
      for (const { id, body: words } of body.items) {
        expect(text).toContain(id)
        expect(text).toContain(words.split('\n').at(-1))
        expect(words).toEndWith('characters in all)')
        seen.add(id)
      }
      cursor = body.next_cursor
      if (cursor === null) break
      expect(body.shortened).toStartWith(`The first ${body.items.length}, `)
    }
    expect(seen.size).toBe(60)
  })

  test.each(['growth_overview', 'growth_get_brief', 'growth_list_hooks'])(
    '%s fits',
    async (name) => {
      expect(
        shownBy(await mcp.call(name, name === 'growth_get_brief' ? { include: 'items' } : {})).body,
      ).not.toBeEmpty()
    },
  )
})

const ENGLISH = 'Every delay starts at the dock, and nobody reads the log.\n'

test.each([wide(5_000), ENGLISH.repeat(350)])(
  'one record is shown whole if that fits',
  async (words) => {
    const made = await story.send('POST', 'items', {
      body: { kind: 'article', title: 'On words', body: words.trim() },
    })
    const { id } = made.body.item
    const { text, body } = shownBy(await mcp.call('growth_get_record', { kind: 'item', id }))
    expect(body).toEqual((await story.send('GET', `items/${id}`)).body)
    expect(text).toContain(body.item.body.split('\n').at(-1))
  },
)

/** Up to the longest article that the network takes. */
const longTexts: Record<string, string> = {
  japanese: wide(24_500),
  hashes: `${newId()} `.repeat(660),
  rockets: '🚀🪿🇩🇪 '.repeat(2_500),
  polish: 'Nasz magazyn jest spóźniony; kierowcy czekają w kolejce. '.repeat(420),
  quotes: '"\t\\" \n'.repeat(3_900),
}

test.each(Object.entries(longTexts))(
  'a longer one is read in parts, which are all of its text: %s',
  async (_, words) => {
    const input = { kind: 'article', title: 'On words', body: words.trim() }
    const { status, body: made } = await story.send('POST', 'items', { body: input })
    expect([status, made.error]).toEqual([201, undefined])
    const { id, revision, body: all } = made.item
    let read = ''
    for (let from: number | undefined = 0, parts = 0; from !== undefined; parts++) {
      const { text, body } = shownBy(
        await mcp.call('growth_get_record', { kind: 'item', id, ...(from > 0 ? { from } : {}) }),
      )
      expect(body.item).toMatchObject({ id, revision })
      expect(text).toContain(body.shortened)
      expect(body.shortened).toStartWith(
        `Characters ${from} to ${from + body.item.body.length} of the ${all.length} of body: `,
      )
      expect(body.item.body.isWellFormed()).toBe(true)
      read += body.item.body
      from =
        Number(
          /growth_get_record with from (\d+) reads on/.exec(body.shortened)?.[1] ?? Number.NaN,
        ) || undefined
      expect(parts).toBeLessThan(12)
    }
    expect(read).toBe(all)
  },
)

test('a part that does not begin within the text is refused, and a part of a short text is its rest', async () => {
  const id = await write(3_000)
  const { item } = (await story.send('GET', `items/${id}`)).body
  const { length } = item.body
  const call = (from: unknown) => mcp.call('growth_get_record', { kind: 'item', id, from })
  expect(shownBy(await call(length - 7)).body).toEqual({
    item: { id, revision: 1, body: item.body.slice(-7) },
    shortened: `Characters ${length - 7} to ${length} of the ${length} of body: this is its end.`,
  })
  for (const [from, message] of [
    [length, `invalid_input: from must be less than ${length}, the length of body`],
    [-1, 'invalid_input: from must be at least 0'],
    ['7', 'invalid_input: from must be a whole number'],
    [1.5, 'invalid_input: from must be a whole number'],
  ]) {
    const { isError, content } = await call(from)
    expect([isError, content[0]]).toEqual([true, { type: 'text', text: message }])
  }
})

test('a record without a long text has no parts', async () => {
  const id = await write(100)
  const { isError, content } = await mcp.call('growth_get_record', { kind: 'item', id, from: 50 })
  const text = 'invalid_input: from must be left out: the record has no text that is read in parts'
  expect([isError, content[0]]).toEqual([true, { type: 'text', text }])
})

test('of an edited text the present one is read in parts, however long the first one was', () => {
  const item = { original_body: 'x'.repeat(9_000), body: 'y'.repeat(3_000) }
  expect(longestText({ item })?.path).toEqual(['item', 'body'])
})

test('the guess at tokens is seldom too low, and never by more than a fifth', () => {
  const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
  const others = [
    'ሰላም ዓለም እንዴት ነህ '.repeat(90),
    '𠀀𠀁龘靐齉'.repeat(90),
    '!@#$%^&*()_+~`|:;<>?/'.repeat(90),
    'བོད་ཡིག་གི་ '.repeat(90),
  ]
  const hashes = Array.from({ length: 90 }, (_, n) => hash(`${n}`)).join(' ')
  for (const text of [
    ENGLISH,
    ...Object.values(longTexts),
    ...others,
    hashes,
    Buffer.from(hashes).toString('base64'),
  ])
    expect(tokensGuessed(text) / tokensOf(text), text.slice(0, 20)).toBeWithin(0.8, 3)
})

test('a list leaves out what is empty', async () => {
  const id = await story.drafted()
  const { body } = shownBy(await mcp.call('growth_list_queue', { limit: 1 }))
  expect(body.items[0].id).toBe(id)
  for (const value of Object.values(body.items[0])) expect([null, '']).not.toContain(value as never)
})

const record = { id: newId(), status: 'ready', created_at: '2026-06-15T07:00:00Z' }

test('a report leaves out the data behind its Markdown, a single one too', () => {
  const report = { ...record, data: { totals: { posts: 3 } }, markdown: '# The week\n3 posts' }
  const list = shortForm(
    { reports: [report], next_cursor: null },
    { schema: reports.list.output, whole: false },
  )
  expect(list.body).toEqual({
    reports: [{ ...record, markdown: '# The week\n3 posts' }],
    next_cursor: null,
  })
  expect(shortForm({ report }, { schema: reports.create.output, whole: false }).body).toEqual({
    report: { ...record, markdown: report.markdown },
  })
  expect(shortForm({ report }, { schema: reports.create.output, whole: true }).body).toEqual({
    report,
  })
})

test('a signal says in a line what the network allows', () => {
  const action = (name: string, reason: string | null) => ({
    action: name,
    allowed: reason === null,
    reason,
    link: null,
  })
  const actions = [
    action('reply', null),
    action('like', null),
    action('quote', 'x_quote_selfserve_removed'),
  ]
  const { body, text } = shortForm(
    { signals: [{ ...record, actions }], next_cursor: null },
    { schema: signals.list.output, whole: false },
  )
  const line = 'reply, like; the network does not allow quote: x_quote_selfserve_removed'
  expect((body as Content).signals[0].actions).toBe(line)
  expect(text).toContain(`actions: ${line}`)
})
