/** A copy of a deployment sends no reply that its original may have sent. */
import { afterAll, expect, test } from 'bun:test'
import type { ChannelReply } from '#domain/agent/channel/reply'
import { COPIED } from '#domain/agent/job/taint'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/app'
import { channelJobs, devChannel, hasten, postDev } from '#test/support/channels/dev-posts'
import { replyingPlace, replyOnce, replyRow } from '#test/support/channels/replies'
import { adoptNow, holdNow } from '#test/support/held'
import { openReceiver } from '#test/support/http/receiver'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const receiver = await openReceiver()
afterAll(() => receiver[Symbol.asyncDispose]())
/** What the model waits for before it answers. */
let answersAfter = Promise.resolve()
const model = scriptedModel(async () => {
  await answersAfter
  return { text: 'We open at nine.' }
})
const app = useApp(() => ({ model, env: { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` } }))

/** Two replies that wait for their connection: one that was never tried, and one that was. */
const waiting = async () => {
  const at = await replyingPlace(app, receiver)
  await app.owner`update channel_connection set next_out_at = now() + interval '1 hour'
    where id = ${at.connection}`
  const [fresh, tried] = [await at.say('never tried'), await at.say('tried')]
  await eventually(
    () => app.owner`select 1 from work where ref_id in (${fresh}, ${tried})
      and state = 'queued' and run_at > now() + interval '10 minutes'`,
    ({ length }) => length === 2,
  )
  await app.owner`update channel_reply set parts = '[]' where id = ${fresh}`
  await app.owner`update channel_reply set parts = jsonb_build_array(
    jsonb_build_object('text', 'one', 'state', 'sent', 'external_id', 'm1', 'error', null),
    jsonb_build_object('text', 'two', 'state', 'queued', 'external_id', null, 'error', null))
    where id = ${tried}`
  const goOn = async () => {
    await app.owner`update channel_connection set next_out_at = now()
      where id = ${at.connection}`
    await hasten(app, at, 'channel_reply')
  }
  return { ...at, fresh, tried, goOn }
}
const workOf = (ids: string[]) => app.owner`select 1 from work where ref_id = any(${ids})`

test('replies that were on their way are left to a person; later ones go out', async () => {
  const { fresh, tried, goOn, say, texts } = await waiting()
  await holdNow(app)
  const later = await say('asked for since')
  expect(await adoptNow(app)).toMatchObject({ adopted: true, replies_for_a_decision: 2 })
  expect(await workOf([fresh, tried])).toHaveLength(0)
  await goOn()
  await replyOnce(app, later, 'sent')
  expect(texts()).toEqual(['asked for since'])
  expect(await replyRow(app, fresh)).toMatchObject({ status: 'held', why: expect.any(String) })
  const { status, parts } = await replyRow(app, tried)
  expect([status, ...parts.map(({ state }) => state)]).toEqual(['unknown', 'sent', 'unknown'])
}, 20_000)

test('a deployment that was only moved sends them', async () => {
  const { fresh, tried, goOn } = await waiting()
  await holdNow(app)
  expect(await adoptNow(app, { moved: true })).toMatchObject({ replies_for_a_decision: 0 })
  await goOn()
  for (const id of [fresh, tried]) await replyOnce(app, id, 'sent')
}, 20_000)

/** Somebody has asked, and the model has not answered yet. */
const asking = async () => {
  const config = { url: new URL(`/${newId()}`, receiver.url).href, reply: 'auto' }
  const at = await devChannel(app, { config }, (await app.newWorkspace()).tenantId)
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  answersAfter = promise
  const before = model.turns.length
  await postDev(app.url, at, { text: 'When do you open?' })
  await eventually(
    () => model.turns.length,
    (turns) => turns > before,
  )
  const replies = (count: number) =>
    eventually(
      async () => [
        ...(await app.owner<Pick<ChannelReply, 'status' | 'why'>[]>`select status, why
          from channel_reply where connection_id = ${at.id} order by id`),
      ],
      (rows) => rows.length === count && rows.every(({ status }) => status !== 'sending'),
    )
  return { at, answer, replies }
}

test('a job that was under way answers only if a person agrees; a later one answers at once', async () => {
  const { at, answer, replies } = await asking()
  await holdNow(app)
  expect(await adoptNow(app)).toMatchObject({ adopted: true, jobs_that_ask_first: 1 })
  answer()
  const why = expect.stringContaining('may have answered already')
  expect(await replies(1)).toEqual([{ status: 'held', why }])
  const [job] = await channelJobs(app, at)
  expect(job!.taint).toEqual(['channel dev', COPIED])
  await postDev(app.url, at, { text: 'And on Sundays?', sender: 'bob' })
  await eventually(
    () => replies(2),
    ([, later]) => later?.status === 'sent',
  )
}, 20_000)

test('a job of a deployment that was only moved answers', async () => {
  const { answer, replies } = await asking()
  await holdNow(app)
  expect(await adoptNow(app, { moved: true })).toMatchObject({ jobs_that_ask_first: 0 })
  answer()
  await eventually(
    () => replies(1),
    ([only]) => only?.status === 'sent',
  )
}, 20_000)
