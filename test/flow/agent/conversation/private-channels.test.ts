/** What members write to the agent alone in a channel is theirs. */
import { expect, test } from 'bun:test'
import { textHash } from '#domain/agent/channel/reply'
import { overJob } from '#test/support/agent/agent'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { eventually } from '#test/support/eventually'
import { scriptedModel } from '#test/support/model/scripted-model'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp({ model: scriptedModel(() => ({ text: 'zanzibar, I said.' })) })

const arranged = async () => {
  const { tenantId } = await app.newWorkspace()
  const channel = await devChannel(app, { senderPolicy: 'anyone' }, tenantId)
  const ada = await signedIn(app, tenantId, 'editor')
  await linked(app, channel, 'ada', ada.personId)
  const owner = await signedIn(app, tenantId, 'owner')
  const get = (by: string, path: string) => app.send('GET', `/api/v1/${path}`, { key: by })
  return { channel, ada: ada.key, owner: owner.key, get }
}

test('a direct message begins a private conversation, a shared thread and a stranger one of the workspace', async () => {
  const { channel, ada, owner, get } = await arranged()
  await postDev(app.url, channel, { sender: 'ada', text: 'zanzibar' })
  await postDev(app.url, channel, { sender: 'ada', thread: 'room', text: 'Hello' })
  await postDev(app.url, channel, { sender: 'stranger', text: 'Hello' })
  const jobs = await channelJobs(app, channel)
  for (const { id } of jobs) await overJob(app, id)
  const [own, shared, strangers] = jobs.map(
    ({ conversation_id }) => `agent/conversations/${conversation_id}`,
  )
  const seen = async (by: string) =>
    Promise.all([own!, shared!, strangers!].map(async (path) => (await get(by, path)).status))
  expect([await seen(ada), await seen(owner)]).toEqual([
    [200, 200, 200],
    [404, 200, 200],
  ])
  expect((await get(owner, `agent/jobs/${jobs[0]!.id}`)).status).toBe(404)
  // What went out stands in the list of replies, for whoever has to see that it does, without its
  // words.
  const replies = async (by: string) =>
    (await get(by, `channels/replies?jobId=${jobs[0]!.id}`)).body.replies
  const [reply] = await eventually(
    () => replies(owner),
    (all: { id: string }[]) => all.length === 1,
  )
  expect(reply).toMatchObject({ text: '(said in a private conversation)', recipient: 'ada' })
  expect((await get(owner, `channels/replies/${reply!.id}`)).text).not.toContain('zanzibar')
  expect(reply).toMatchObject({ contentHash: null, question: { sender: 'ada' } })
  expect((await replies(ada))[0]).toMatchObject({
    text: 'zanzibar, I said.',
    contentHash: textHash('zanzibar, I said.'),
    question: { text: 'zanzibar', subject: null, isCut: false, sender: 'ada' },
  })
})

test('a thread that a channel shows to others is made private by nobody, not even its starter', async () => {
  const { channel, ada, owner, get } = await arranged()
  await postDev(app.url, channel, { sender: 'ada', thread: 'room', text: 'Hello' })
  const [job] = await channelJobs(app, channel)
  await overJob(app, job!.id)
  const path = `agent/conversations/${job!.conversation_id}`
  const refused = await app.send('PATCH', `/api/v1/${path}`, {
    key: ada,
    body: { visibility: 'private' },
  })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    expect.stringContaining('a thread of a channel, in which others'),
  ])
  expect((await get(owner, path)).status).toBe(200)
})
