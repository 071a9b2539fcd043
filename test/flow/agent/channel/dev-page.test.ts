/**
 * The page to talk through a dev channel, over HTTP: who is answered there, as whom, and that each
 * message is taken once.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { channelAdmin, makeChannel } from '#test/support/channels/channels'
import {
  channelJobs,
  type DevChannel,
  devChannel,
  messagesOf,
} from '#test/support/channels/dev-posts'
import { createVisitor } from '#test/support/http/visitor'
import { scriptedModel } from '#test/support/model/scripted-model'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp({ model: scriptedModel(() => ({ text: 'Seen <b>it</b>.' })) })
afterEach(() => forgetAttempts(app))

const arrange = async (more: Record<string, unknown> = {}) => {
  const { tenantId } = await app.newWorkspace()
  const channel = await devChannel(app, { displayName: 'Try <it>', ...more }, tenantId)
  const { email, personId } = await joinAs(app, { tenantId, role: 'viewer' })
  const one = createVisitor(app)
  await one.send('/sign-in', { email, password: PASSWORD })
  return {
    channel,
    path: `/channels/dev/${channel.id}`,
    one,
    email,
    personId,
    sender: `page:${personId}`,
  }
}

/** The page once no answer is to come any more: a request waits for one for a few seconds alone. */
const answered = (one: ReturnType<typeof createVisitor>, path: string) =>
  eventually(
    () => one.get(path),
    ({ text }) => !text.includes('Look again'),
  )

const jobsOf = (channel: DevChannel) => channelJobs(app, channel)

describe('the page of a dev channel', () => {
  test('leads through sign-in to a form, and shows what was said and answered', async () => {
    const { channel, path, email, one } = await arrange({ config: { reply: 'auto' } })
    const other = createVisitor(app)
    expect((await other.get(path)).location).toBe(`/sign-in?next=${encodeURIComponent(path)}`)
    expect((await other.send('/sign-in', { email, password: PASSWORD, next: path })).location).toBe(
      path,
    )
    expect((await one.get(path)).text).toContain('Try &lt;it&gt;')
    const sent = await one.send(path, { text: 'When do <you> open?\r\nSoon?', event: newId() })
    expect([sent.status, sent.location]).toEqual([303, `${path}?wait=1`])
    const { status, text, headers } = await answered(one, sent.location!)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    for (const part of [
      'When do &lt;you&gt; open?\nSoon?',
      'Seen &lt;b&gt;it&lt;/b&gt;.',
      'As a stranger',
      channel.routingKey,
    ])
      expect(text).toContain(part)
    const [job, ...more] = await jobsOf(channel)
    expect(more).toEqual([])
    expect(job).toMatchObject({
      kind: 'channel',
      taint: ['channel dev'],
      on_behalf: { personId: null },
    })
  })

  test('lets an answer to a stranger wait for a person, as the channel does', async () => {
    const { path, one } = await arrange()
    const { text } = await answered(one, (await one.send(path, { text: 'Hello' })).location!)
    expect(text).toMatch(/<a href="\/replies\/[0-9a-f-]{36}">waits for a person<\/a>/)
  })

  test('links its sender to the person, and to nobody else', async () => {
    const { channel, path, one, sender, personId } = await arrange({ senderPolicy: 'members' })
    const linked = await one.get((await one.send(path, { decision: 'link' })).location!)
    for (const part of ['You are linked now', 'As yourself']) expect(linked.text).toContain(part)
    expect(linked.text).not.toMatch(/Link this sender|not taken/)
    const { text } = await answered(one, (await one.send(path, { text: 'Hello' })).location!)
    expect(text).toContain('Seen &lt;b&gt;it&lt;/b&gt;.')
    const [job] = await jobsOf(channel)
    expect(job!.on_behalf.personId).toBe(personId)
    const identities = await app.owner`select external_id, person_id from channel_identity
        where connection_id = ${channel.id}`
    expect([...identities]).toEqual([{ external_id: sender, person_id: personId }])
  })

  test('says so when a sender who is not linked starts no job', async () => {
    const { channel, path, one } = await arrange({ senderPolicy: 'members' })
    const { location } = await one.send(path, { text: 'Hello' })
    expect(location).toBe(`${path}?wait=1&declined=1`)
    for (const part of ['The message was not taken', 'I can only talk to members'])
      expect((await one.get(location!)).text).toContain(part)
    expect(await jobsOf(channel)).toEqual([])
  })

  test('a form that is sent twice is one message, and nobody can name another sender', async () => {
    const { channel, path, one, sender } = await arrange()
    const form = { text: 'Hello', event: newId(), sender: 'boss' }
    const sent = await Promise.all([1, 2, 3].map(() => one.send(path, form)))
    expect(sent.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(
      (await messagesOf(app, channel)).map((message) => [message.sender, message.text]),
    ).toEqual([[sender, 'Hello']])
  })

  test('shows each person only what he has said himself', async () => {
    const { channel, path, one } = await arrange()
    await one.send(path, { text: 'A secret of mine' })
    const { email } = await joinAs(app, { tenantId: channel.tenantId, role: 'owner' })
    const other = createVisitor(app)
    await other.send('/sign-in', { email, password: PASSWORD })
    const { status, text } = await other.get(path)
    expect(status).toBe(200)
    expect(text).not.toContain('A secret of mine')
  })

  test.each([
    ['nothing', ''],
    ['white space', ' \n '],
    ['more than 10,000 characters', 'x'.repeat(10_001)],
  ])('refuses %s, and keeps what was typed', async (_, text) => {
    const { channel, path, one } = await arrange()
    const reply = await one.send(path, { text })
    expect(reply.status).toBe(400)
    expect(reply.text).toContain('Message must have 1 to 10,000 characters')
    if (text.includes('x')) expect(reply.text).toContain(text)
    expect(await messagesOf(app, channel)).toEqual([])
  })

  test('says why a channel takes nothing in', async () => {
    const workspace = { app, ...(await app.newWorkspace()) }
    const id = await makeChannel(workspace as never)
    const { email } = await joinAs(app, { tenantId: workspace.tenantId })
    const one = createVisitor(app)
    await one.send('/sign-in', { email, password: PASSWORD })
    const { text } = await one.get(`/channels/dev/${id}`)
    expect(text).toContain('takes nothing in: it is unverified')
    expect(text).not.toContain('<form')
    expect((await one.send(`/channels/dev/${id}`, { text: 'Hello' })).status).toBe(404)
  })

  test('is the same for unknown ids, for no ids, for other channels and for those of other workspaces', async () => {
    const { one, channel } = await arrange()
    const foreign = await arrange()
    const { connect } = await channelAdmin(app, channel.tenantId)
    const slack = await connect({ channel: 'slack', routingKey: 'T012AB3CD', credentials: {} })
    const paths = [foreign.path, ...[newId(), 'x', '%22', slack].map((id) => `/channels/dev/${id}`)]
    const replies = await Promise.all(paths.map((path) => one.get(path)))
    expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 404))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    for (const path of paths) expect((await one.send(path, { text: 'Hello' })).status).toBe(404)
    expect(await messagesOf(app, foreign.channel)).toEqual([])
  })

  test('takes no form from another page', async () => {
    const { channel, path, one } = await arrange()
    expect(
      (await one.send(path, { text: 'Hello' }, { origin: 'https://evil.example' })).status,
    ).toBe(403)
    expect(await messagesOf(app, channel)).toEqual([])
  })
})
