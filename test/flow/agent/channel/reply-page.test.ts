/** The page of a reply over HTTP: what goes to whom, who can decide, and what a decision does. */
import { afterEach, describe, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { newId } from '#kernel/ids'
import { makeReply, replyRow } from '#test/support/channels/replies'
import { createVisitor } from '#test/support/http/visitor'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp({ overrides: { lanes: [] } })
afterEach(() => forgetAttempts(app))

const signedIn = async (options: Parameters<typeof joinAs>[1] = {}) => {
  const person = await joinAs(app, options)
  const one = createVisitor(app)
  await one.send('/sign-in', { email: person.email, password: PASSWORD })
  return one
}

const made = async (more: Partial<ChannelReply> = {}, tenantId = app.tenantId) => {
  const id = await makeReply({ app, tenantId } as never, {
    text: 'We open at <b>nine</b>.',
    ...more,
  })
  return { id, path: `/replies/${id}`, row: () => replyRow(app, id) }
}

const part = {
  text: 'one',
  state: 'failed',
  external_id: null,
  error: 'too long',
  tried_at: null,
  in_doubt: false,
} as const

describe('the page of a held reply', () => {
  test('leads through sign-in to its text and recipient', async () => {
    const { path } = await made()
    const { email } = await joinAs(app)
    const one = createVisitor(app)
    expect((await one.get(path)).location).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    expect((await one.send('/sign-in', { email, password: PASSWORD, next: path })).location).toBe(
      path,
    )
    const { status, text, headers } = await one.get(path)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).not.toMatch(/<script|\son\w+=|style="|<b>/i)
    for (const says of [
      'Send this reply?',
      'We open at &lt;b&gt;nine&lt;/b&gt;.',
      'Ada (U1)',
      '<dt>Why it waits</dt><dd>Somebody outside asked.</dd>',
      '<dd>Dev</dd>',
      'value="send"',
      'value="discard"',
    ])
      expect(text).toContain(says)
  })

  test('sends it as it is, or with another text', async () => {
    const one = await signedIn({ role: 'approver' })
    const [first, second] = [await made({ text: 'Line\nLine' }), await made()]
    expect((await one.send(first.path, { decision: 'send', text: 'Line\r\nLine' })).location).toBe(
      first.path,
    )
    expect(await first.row()).toMatchObject({ status: 'queued', text: 'Line\nLine' })
    // A page that was open since before somebody else sent other words.
    const hash = /name="hash" value="([0-9a-f]{64})"/.exec((await one.get(second.path)).text)![1]!
    const stale = { decision: 'send', text: 'At ten.', hash: hash.replace(/^./, 'x') }
    expect((await one.send(second.path, stale)).status).toBe(400)
    const other = { ...stale, hash: '0'.repeat(64) }
    expect((await one.send(second.path, other)).status).toBe(409)
    await one.send(second.path, { decision: 'send', text: 'At ten.' })
    expect(await second.row()).toMatchObject({ status: 'queued', text: 'At ten.' })
    const { text } = await one.get(second.path)
    expect(text).toContain('On its way')
    expect(text).not.toContain('value="send"')
    await one.send(second.path, { decision: 'discard' })
    expect(await second.row()).toMatchObject({
      status: 'discarded',
      error: 'a person discarded the reply',
    })
  })

  test('discards it, and says who did', async () => {
    const one = await signedIn()
    const { path, row } = await made()
    expect((await one.send(path, { decision: 'discard' })).location).toBe(path)
    expect((await row()).status).toBe('discarded')
    expect((await one.get(path)).text).toContain('It was not sent.')
    // A second click, from a page that was open.
    const again = await one.send(path, { decision: 'send' })
    expect([again.status, again.text]).toEqual([
      409,
      expect.stringContaining('Cannot send: the reply is discarded'),
    ])
  })

  test('keeps what was typed if it cannot be sent', async () => {
    const one = await signedIn()
    const { path, row } = await made()
    const { status, text } = await one.send(path, { decision: 'send', text: '   ' })
    expect([status, text.includes('There is a problem')]).toEqual([400, true])
    expect((await row()).status).toBe('held')
  })

  test('tells a member who cannot decide why, and takes no decision', async () => {
    const one = await signedIn({ role: 'editor' })
    const { path, row } = await made()
    const { text } = await one.get(path)
    expect(text).toContain('your role is editor, and sending a reply requires owner or approver')
    expect(text).not.toContain('<form')
    for (const decision of ['send', 'discard'])
      expect((await one.send(path, { decision })).status).toBe(403)
    expect((await row()).status).toBe('held')
  })
})

test('a reply that failed can be sent again', async () => {
  const one = await signedIn()
  const failed = await made({
    status: 'failed',
    error: 'too long',
    parts: [{ ...part, state: 'sent', error: null }, part],
  })
  const shown = (await one.get(failed.path)).text
  for (const says of ['Not sent', 'too long', 'Send again', 'Its messages'])
    expect(shown).toContain(says)
  await one.send(failed.path, { decision: 'send' })
  expect((await failed.row()).parts.map(({ state }) => state)).toEqual(['sent', 'queued'])
})

describe('the page of a reply that may have arrived', () => {
  const unknown = () =>
    made({ status: 'unknown', error: 'it broke off', parts: [{ ...part, state: 'unknown' }] })
  const seenIn = (text: string) => /name="seen" value="([^"]+)"/.exec(text)![1]!

  test('says why, and asks what became of it', async () => {
    const [one, { path, row }] = [await signedIn({ role: 'approver' }), await unknown()]
    const { text } = await one.get(path)
    for (const says of [
      'Did this reply arrive?',
      'it broke off',
      'value="arrived"',
      'value="not_arrived"',
    ])
      expect(text).toContain(says)
    await one.send(path, { decision: 'arrived', seen: seenIn(text) })
    expect(await row()).toMatchObject({ status: 'sent', error: null })
    expect((await one.get(path)).text).toContain('<title>Sent')
  })

  test('sends it again once, whoever else presses what', async () => {
    const [one, other, { path, row }] = [
      await signedIn(),
      await signedIn({ role: 'approver' }),
      await unknown(),
    ]
    const [seen, seenByOther] = [
      seenIn((await one.get(path)).text),
      seenIn((await other.get(path)).text),
    ]
    await one.send(path, { decision: 'not_arrived', seen })
    expect((await row()).parts).toMatchObject([{ state: 'queued', round: 1 }])
    for (const decision of ['not_arrived', 'arrived'])
      expect((await other.send(path, { decision, seen: seenByOther })).status).toBe(409)
    expect((await row()).parts).toMatchObject([{ state: 'queued', round: 1 }])
  })

  test('tells a member who cannot decide why', async () => {
    const [one, { path, row }] = [await signedIn({ role: 'editor' }), await unknown()]
    const { text } = await one.get(path)
    expect([text.includes('your role is editor'), text.includes('<form')]).toEqual([true, false])
    expect((await one.send(path, { decision: 'arrived' })).status).toBe(403)
    expect((await row()).status).toBe('unknown')
  })
})

test('the page is the same for unknown ids, for no ids and for those of other workspaces', async () => {
  const one = await signedIn()
  const foreign = await made({}, (await app.newWorkspace()).tenantId)
  const replies = await Promise.all(
    [foreign.path, `/replies/${newId()}`, '/replies/x'].map((path) => one.get(path)),
  )
  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
  for (const decision of ['send', 'discard'])
    expect((await one.send(foreign.path, { decision })).status).toBe(404)
  expect((await foreign.row()).status).toBe('held')
})
