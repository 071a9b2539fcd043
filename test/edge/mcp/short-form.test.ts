/** What a model is shown of long answers: below 8,000 tokens, and the same in text and structured content. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { reports } from '#contract/growth/reports'
import { signals } from '#contract/growth/signals'
import { MOST_BYTES, shortForm } from '#edge/mcp/short-form'
import { newId } from '#kernel/ids'
import { connectMcp, type McpClient } from '#test/support/mcp'
import { newStory, type Story } from '#test/support/story'
import { use, useApp } from '#test/support/use'

const app = useApp()
let story: Story
beforeAll(async () => {
  story = await newStory(app)
})
const connect = ({ key }: Story): Promise<McpClient> => connectMcp(app.url, { key, query: '?toolsets=all' })
const mcp = use(() => connect(story))

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Content = any

const shownBy = ({ content, structuredContent }: CallToolResult): { text: string; body: Content; bytes: number[] } => {
  const { text } = content[0] as { text: string }
  return { text, body: structuredContent, bytes: [text, JSON.stringify(structuredContent)].map((one) => Buffer.byteLength(one)) }
}

/** Letters of three bytes each, as of many languages. */
const wide = (length: number) => '東京の倉庫は遅れています。'.repeat(length).slice(0, length)

const write = async (length: number, by = story): Promise<string> => {
  const { status, body } = await by.send('POST', 'items', { body: { kind: 'article', title: `On ${newId()}`, body: wide(length) } })
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
      const { text, body, bytes } = shownBy(await mcp.call('growth_list_queue', { limit: 100, ...(cursor ? { cursor } : {}) }))
      for (const size of bytes) expect(size).toBeLessThanOrEqual(MOST_BYTES)
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

  test.each(['growth_overview', 'growth_get_brief', 'growth_list_hooks'])('%s fits', async (name) => {
    const { bytes } = shownBy(await mcp.call(name, name === 'growth_get_brief' ? { include: 'items' } : {}))
    for (const size of bytes) expect(size).toBeLessThanOrEqual(MOST_BYTES)
  })
})

test('one record is shown whole if that fits, and else ends early with its length', async () => {
  const whole = await write(5_000)
  const { text, body } = shownBy(await mcp.call('growth_get_record', { kind: 'item', id: whole }))
  expect(body).toEqual((await story.send('GET', `items/${whole}`)).body)
  expect(text).toContain(body.item.body.split('\n').at(-1))
  const long = await write(20_000)
  const cut = shownBy(await mcp.call('growth_get_record', { kind: 'item', id: long }))
  for (const size of cut.bytes) expect(size).toBeLessThanOrEqual(MOST_BYTES)
  expect(cut.body.item.body).toMatch(/… \(\d{5} characters in all\)$/)
  expect(cut.body.shortened).toStartWith('Too long to show in full')
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
  const list = shortForm({ reports: [report], next_cursor: null }, { schema: reports.list.output, whole: false })
  expect(list.body).toEqual({ reports: [{ ...record, markdown: '# The week\n3 posts' }], next_cursor: null })
  expect(shortForm({ report }, { schema: reports.create.output, whole: false }).body).toEqual({
    report: { ...record, markdown: report.markdown },
  })
  expect(shortForm({ report }, { schema: reports.create.output, whole: true }).body).toEqual({ report })
})

test('a signal says in a line what the network allows', () => {
  const action = (name: string, reason: string | null) => ({ action: name, allowed: reason === null, reason, link: null })
  const actions = [action('reply', null), action('like', null), action('quote', 'x_quote_selfserve_removed')]
  const { body, text } = shortForm({ signals: [{ ...record, actions }], next_cursor: null }, { schema: signals.list.output, whole: false })
  const line = 'reply, like; the network does not allow quote: x_quote_selfserve_removed'
  expect((body as Content).signals[0].actions).toBe(line)
  expect(text).toContain(`actions: ${line}`)
})
