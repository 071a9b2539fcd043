/** What people are asked, of records in a real database. */
import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { sayingFor } from '#decisions/agent/say'
import { type CallSummary, sha256 } from '#decisions/agent/saying'
import { contentMark } from '#domain/growth/drafting/content-mark'
import { keptMarks } from '#domain/growth/drafting/marks'
import { newId } from '#kernel/ids'
import { call, legalInput } from '#test/support/contract/prepare'
import { texts, the, useSaying } from './saying.ts'

const world = useSaying()
const { app, say, run, connected, defaultHandle, make, set } = world
const commits = operations.filter(({ agent, id }) => agent === 'commit' || texts.includes(id))

/** The sentence without its warnings: the drafts of these tests say the same. */
const called = ({ summary }: CallSummary): string =>
  summary.replace(/; (a warning|warnings): .*$/, '')

const BODY = 'Every delay starts at the dock.'

test('every operation of class commit and every one that writes a text has a sentence, and no other has', async () => {
  for (const o of operations)
    expect([o.id, sayingFor(o.id, { id: newId() }) !== undefined]).toEqual([
      o.id,
      commits.includes(o),
    ])
})

test('a change of a text shows it, and says what it undoes', async () => {
  const id = await make('growth.items')
  const change = { id, body: 'Every delay starts at the gate.' }
  const draft = await say('growth.items.edit', change)
  expect(draft.summary).toMatch(/^Change the post “.+” to “Every delay starts at the gate”$/)
  expect([draft.subject.text, draft.subject.records]).toEqual([
    change.body,
    [{ kind: 'item', id, sha256: expect.any(String) }],
  ])
  await run('growth.items.approve', { id })
  expect((await say('growth.items.edit', change)).summary).toEndWith(
    '; it must then be approved again',
  )
  await run('growth.items.schedule', {
    id,
    post_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  expect((await say('growth.items.reopen', { id })).summary).toEndWith(
    '; it is then not posted before it is approved and scheduled again',
  )
  expect((await say('growth.items.edit', { id, tags: ['docks'] })).subject.text).toBeNull()
  const made = await say('growth.items.create', { body: 'Mine' })
  expect([made.summary, made.subject.text]).toEqual(['Write a draft of a post: “Mine”', 'Mine'])
})

test.each(commits.map(({ id }) => [id]))(
  '%s says one sentence that ends without a stop',
  async (id) => {
    const { summary, subject } = await say(id, await legalInput(world.workspace, the(id)))
    expect(summary).toMatch(/^[A-Z][^\n]{10,}[^.]$/)
    for (const record of subject.records) expect(record.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(subject.sha256).toBe(subject.text === null ? null : sha256(subject.text))
  },
)

test.each(commits.filter(({ path }) => path.includes(':id')).map(({ id }) => [id]))(
  '%s does not find what is not there',
  async (id) => {
    const input = { ...(await legalInput(world.workspace, the(id))), id: newId() }
    const reply = await call(world.workspace, the(id), input)
    await expect(say(id, input)).rejects.toMatchObject({
      code: 'not_found',
      message: reply.body.error!.message,
    })
  },
)

test('an approval of a draft names its text and the default account', async () => {
  const id = await make('growth.items')
  const handle = await defaultHandle()
  const plain = await say('growth.items.approve', { id })
  expect(called(plain)).toBe(
    `Approve the draft “Every delay starts at the dock” so that it can be scheduled or posted from @${handle}`,
  )
  expect(plain.subject).toMatchObject({
    account: handle,
    text: BODY,
    records: [{ kind: 'item', id }],
  })
  const edited = await say('growth.items.approve', {
    id,
    edited_body: 'Every delay starts at the gate.',
  })
  expect(edited.summary).toContain(
    'at the dock”, changed to “Every delay starts at the gate”, so that',
  )
  expect(edited.subject).toMatchObject({
    text: 'Every delay starts at the gate.',
    records: plain.subject.records,
  })
})

test('the record is bound to the hash that its approval gets', async () => {
  const id = await make('growth.items')
  const before = await say('growth.items.approve', { id })
  await run('growth.items.approve', { id })
  const [row] = await app.owner<
    { approved_hash: string }[]
  >`select approved_hash from item where id = ${id}`
  const after = await say('growth.items.postNow', { id })
  expect([before, after].map(({ subject }) => subject.records[0]!.sha256)).toEqual([
    row!.approved_hash,
    row!.approved_hash,
  ])
})

test('what is shown beside the text is said, in quotation marks, and is part of the subject', async () => {
  const id = await make('growth.items')
  const alone = await say('growth.items.approve', { id })
  const account = (await connected()).find(({ is_default }) => is_default)!.id
  const card = { url: 'https://a.example.com/b', title: 'Late” and approved', description: '' }
  const mentions = [{ handle: 'friend.example.com', id: 'did:plc:friend' }]
  const marks = keptMarks({ mentions, card }, { body: BODY, account })
  await app.owner`update item set marks = ${app.owner.json(marks)} where id = ${id}`
  const beside =
    '; it mentions @friend.example.com and shows a card of https://a.example.com/b with the title “Late" and approved”'
  const marked = await say('growth.items.approve', { id })
  expect(called(marked)).toEndWith(beside)
  expect(marked.subject.records).not.toEqual(alone.subject.records)
  const seen = await say('growth.items.approve', { id, expect_hash: contentMark(BODY, marks) })
  expect(called(seen)).toEndWith(beside)
  for (const other of [{ edited_body: `${BODY} Always.` }, { expect_hash: contentMark(BODY) }])
    expect((await say('growth.items.approve', { id, ...other })).summary).not.toContain('a card')
})

test('another text or another account is another subject', async () => {
  const id = await make('growth.items')
  const hash = async () => (await say('growth.items.approve', { id })).subject.records[0]!.sha256
  const first = await hash()
  await set('item', id, { body: `${BODY} Always.` })
  const second = await hash()
  const other = (await connected()).find(({ is_default }) => !is_default)!
  await run('growth.connections.setDefault', { id: other.id })
  expect(new Set([first, second, await hash()]).size).toBe(3)
  expect((await say('growth.items.approve', { id })).subject.account).toBe(other.handle)
})

test('a schedule names the time by the clocks of the workspace', async () => {
  await run('growth.profile.update', { time_zone: 'Europe/Berlin' })
  const id = await make('growth.items')
  await run('growth.items.approve', { id })
  const handle = await defaultHandle()
  const day = `${new Date().getUTCFullYear() + 1}-06-15`
  const asked = { id, post_at: `${day}T07:00:00Z` }
  const scheduling = await say('growth.items.schedule', asked)
  const { subject } = scheduling
  const at = `at ${day} 09:00 (Europe/Berlin)`
  expect(called(scheduling)).toBe(
    `Schedule “Every delay starts at the dock” to go out from @${handle} ${at}`,
  )
  expect(subject.text).toBe(BODY)
  await run('growth.items.schedule', asked)
  const moved = await say('growth.items.schedule', { id, post_at: 'next_slot' })
  expect(called(moved)).toEndWith(` in the next free slot, instead of ${at}`)
})

test('a post names the text and the account it goes out from', async () => {
  const id = await make('growth.items')
  await run('growth.items.approve', { id })
  const handle = await defaultHandle()
  const posting = await say('growth.items.postNow', { id })
  const { subject } = posting
  expect(called(posting)).toBe(`Post “Every delay starts at the dock” now from @${handle}`)
  expect(subject).toMatchObject({ account: handle, text: BODY })
  await set('item', id, { status: 'publish_unconfirmed' })
  const again = await say('growth.items.postNow', { id, confirm: 'post_again' })
  expect(again.summary).toContain('again, although it may already be on the network, from @')
  expect(again.subject.records[0]!.sha256).not.toBe(subject.records[0]!.sha256)
})

test('nothing goes out when an item is marked as posted', async () => {
  const id = await make('growth.items')
  await run('growth.items.approve', { id })
  const { summary, subject } = await say('growth.items.markPosted', {
    id,
    url: 'https://network.example/1',
  })
  expect(summary).toBe(
    'Mark “Every delay starts at the dock” as posted by hand at “https://network.example/1”; nothing is sent',
  )
  expect(subject).toMatchObject({ account: null, text: null, sha256: null })
  await set('item', id, { status: 'publish_unconfirmed' })
  expect((await say('growth.items.markPosted', { id })).summary).toContain(
    'as found on the network; nothing is sent',
  )
})

test('an engagement names its action, its text and whose post it is on', async () => {
  const id = await make('growth.engagements')
  await set('engagement', id, { post_author: 'lena”, which\u202e a person\nhas approved' })
  const handle = await defaultHandle()
  const { summary, subject } = await say('growth.engagements.approve', { id })
  const post = 'a post by “lena", which[U+202E] a person has approved”'
  expect(summary).toBe(
    `Approve the reply “We call first” to ${post} so that it can be executed from @${handle}`,
  )
  expect(subject).toMatchObject({
    account: handle,
    text: 'We call first.',
    records: [{ kind: 'engagement', id }],
  })
  await run('growth.engagements.approve', { id })
  expect((await say('growth.engagements.execute', { id })).summary).toBe(
    `Send the reply “We call first” to ${post} now from @${handle}`,
  )
  expect((await say('growth.engagements.execute', { id })).subject.records).toEqual(subject.records)
})

test('an approval that was asked for a draft is not one of an engagement in review', async () => {
  const id = await make('growth.engagements')
  const { subject } = await say('growth.engagements.approve', { id })
  await set('engagement', id, { status: 'execute_unconfirmed' })
  await app.owner`update engagement set review = true where id = ${id}`
  const review = await say('growth.engagements.approve', { id })
  expect(review.summary).toBe(
    'Confirm that the reply “We call first” to a post is on the network; nothing is sent',
  )
  expect(review.subject.records[0]!.sha256).not.toBe(subject.records[0]!.sha256)
  expect(review.subject.text).toBeNull()
})

test('an engagement without words of ours has no text', async () => {
  const id = await make('growth.engagements')
  await app.owner`update engagement set action = 'like', body = null where id = ${id}`
  const handle = await defaultHandle()
  const { summary, subject } = await say('growth.engagements.execute', { id })
  expect(summary).toBe(`Like a post now from @${handle}`)
  expect(subject).toMatchObject({ text: null, sha256: null, account: handle })
})

test('a resumption counts what goes out by itself', async () => {
  const before = await say('growth.automation.resumeAll', {})
  const scheduled = Number(/: (\d+) scheduled/.exec(before.summary)![1])
  const id = await make('growth.items')
  await run('growth.items.approve', { id })
  await app.owner`update item set post_at = now() - interval '1 hour' where id = ${id}`
  expect((await say('growth.automation.resumeAll', {})).summary).toContain(
    `: ${scheduled + 1} scheduled item`,
  )
  expect((await say('growth.automation.resumeAll', {})).summary).toMatch(/\(\d+ already due\)/)
})

test('a new default account is named with the one that it replaces', async () => {
  const other = (await connected()).find(({ is_default }) => !is_default)!
  const { summary, subject } = await say('growth.connections.setDefault', { id: other.id })
  const place = `in place of @${await defaultHandle()}`
  expect(summary).toBe(
    `Make @${other.handle} the default account ${place}, to which new approvals are bound`,
  )
  expect(subject.records).toMatchObject([{ kind: 'connection', id: other.id }])
})

test('an approval that schedules names its time, the changed text, what is done if it is missed, and what preview warns of', async () => {
  await run('growth.profile.update', {
    time_zone: 'Europe/Berlin',
    writing_dna: { avoid: ['synergy'] },
  })
  const id = await make('growth.items')
  const day = `${new Date().getUTCFullYear() + 1}-06-15`
  const asked = {
    id,
    edited_body: 'Synergy at the gate.',
    post_at: `${day}T07:00:00Z`,
    on_missed: 'skip',
  }
  const { summary, subject } = await say('growth.items.approve', asked)
  expect(summary).toContain(
    `, changed to “Synergy at the gate”, and schedule it to go out from @${await defaultHandle()} at ${day} 09:00`,
  )
  expect(summary).toContain(
    ' (Europe/Berlin) (if missed: skip it); a warning: contains "synergy", which the profile avoids',
  )
  expect(subject.text).toBe('Synergy at the gate.')
  const preview = await run('growth.items.preview', { body: asked.edited_body, item_id: id })
  for (const { message } of preview.preview.warnings) expect(summary).toContain(message)
  await run('growth.profile.update', { writing_dna: { avoid: [] } })
})
