/** How much comes in from channels, from whom: rates, budgets of strangers, and policies. */
import { describe, expect, test } from 'bun:test'
import { dailyJobLimits } from '#domain/agent/channel/trust'
import { newId } from '#kernel/ids'
import { overJob } from '#test/support/agent/agent'
import { eventually } from '#test/support/app'
import {
  begunBefore,
  channelJobs,
  type DevChannel,
  dayLater,
  devChannel,
  hasten,
  hastenedMessages,
  linked,
  messagesOf,
  postDev,
} from '#test/support/channels/dev-posts'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

/** While it is set, the model thinks. */
let held: Promise<void> | undefined
const app = useApp({
  model: scriptedModel(async () => {
    await held
    return { text: 'Seen.' }
  }),
})

const place = async (more: Record<string, unknown> = {}) =>
  devChannel(app, more, (await app.newWorkspace()).tenantId)

/** So many messages came within the minute. */
const came = ({ tenantId, id }: DevChannel, count: number, sender: string | null = null) =>
  app.owner`insert into inbound_event (tenant_id, source_id, event_id, sender, at)
    select ${tenantId}, ${id}, 'before ' || n, coalesce(${sender}, 'sender ' || n),
      now() - interval '20 seconds' from generate_series(1, ${count}) n`

const later = ({ id }: DevChannel) =>
  app.owner`update inbound_event set at = at - interval '55 seconds' where source_id = ${id}`

const recorded = async ({ id }: DevChannel) => {
  const [row] =
    await app.owner`select (select count(*)::int from inbound_event where source_id = ${id}
      and event_id not like 'before %') as events,
    (select count(*)::int from channel_message where connection_id = ${id}) as messages`
  return { ...row }
}

/** Why messages were declined, as the audit says. */
const reasons = async ({ id }: DevChannel): Promise<string[]> => {
  const rows = await app.owner`select detail->>'why' as why from audit
    where detail->>'connection_id' = ${id} and detail->>'outcome' = 'declined' order by id`
  return rows.map(({ why }) => why)
}

describe('rates', () => {
  test.each([
    ['600 of a connection', 600, null],
    ['60 of a sender', 60, 'ada'],
  ])(
    '%s within a minute: the next one is refused for a while, and nothing is recorded of it',
    async (_, count, sender) => {
      const channel = await place()
      await came(channel, count - 1, sender)
      expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
      const before = await recorded(channel)
      const refused = await postDev(app.url, channel, { sender: 'ada', id: 'evt_1' })
      expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable'])
      const wait = Number(refused.headers.get('retry-after'))
      expect([wait > 0, wait <= 60]).toEqual([true, true])
      expect(await recorded(channel)).toEqual(before)
      await later(channel)
      expect((await postDev(app.url, channel, { sender: 'ada', id: 'evt_1' })).status).toBe(200)
      expect(await channelJobs(app, channel)).toHaveLength(2)
    },
  )

  test('one sender over the rate keeps out nobody else, and an event that is known is known', async () => {
    const channel = await place()
    expect((await postDev(app.url, channel, { sender: 'ada', id: 'evt_1' })).status).toBe(200)
    await came(channel, 60, 'ada')
    const statuses = [{ sender: 'ada' }, { sender: 'bob' }, { sender: 'ada', id: 'evt_1' }].map(
      (post) => postDev(app.url, channel, post),
    )
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([503, 200, 200])
  })

  /**
   * As many messages as a conversation can have open jobs, and one more. `goOn` lets the model
   * answer.
   */
  const crowded = async () => {
    const channel = await place()
    await linked(app, channel, 'ada')
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    for (let nth = 1; nth <= 21; nth++) {
      const { status, body } = await postDev(app.url, channel, {
        id: `evt_${nth}`,
        sender: 'ada',
        text: `Message ${nth}`,
      })
      expect([status, body]).toEqual([200, { received: true }])
    }
    const goOn = () => {
      held = undefined
      resolve()
    }
    return { channel, goOn }
  }
  const waiting = async (channel: DevChannel) =>
    (await messagesOf(app, channel))
      .filter(({ state }) => state === 'fetching')
      .map(({ text }) => text)

  test('a conversation with too many open jobs takes a message, and begins its job once there is room', async () => {
    const { channel, goOn } = await crowded()
    expect(
      (await postDev(app.url, channel, { id: 'evt_21', sender: 'ada', text: 'Message 21' })).status,
    ).toBe(200)
    await hasten(app, channel)
    expect(
      [await waiting(channel), await channelJobs(app, channel)].map(({ length }) => length),
    ).toEqual([1, 20])
    goOn()
    for (const { id } of await channelJobs(app, channel))
      expect((await overJob(app, id)).status).toBe('completed')
    await hastenedMessages(app, channel)
    const jobs = await channelJobs(app, channel)
    expect([jobs.length, jobs.at(-1)!.goal]).toEqual([21, 'Message 21'])
  })

  test('a message for which there is no room for a day is given up, and its sender told', async () => {
    const { channel, goOn } = await crowded()
    const claims = async () =>
      (
        await app.owner`select attempt from work where tenant_id = ${channel.tenantId}
          and kind = 'channel_fetch' and attempt > 50`
      ).length
    await app.owner`update work set attempt = 50 where tenant_id = ${channel.tenantId}
      and kind = 'channel_fetch'`
    await hasten(app, channel)
    await eventually(claims, (count) => count === 1)
    expect(await waiting(channel)).toEqual(['Message 21'])
    await app.owner`update channel_message set created_at = created_at - interval '24 hours'
      where connection_id = ${channel.id} and state = 'fetching'`
    const last = (await hastenedMessages(app, channel)).find(({ text }) => text === 'Message 21')
    expect(last).toMatchObject({
      state: 'failed',
      error: 'the agent had too many open jobs for a day',
      job_id: null,
    })
    const told =
      await app.owner`select recipient, text from channel_reply where connection_id = ${channel.id}
        and job_id is null`
    expect(told.map(({ recipient, text }) => [recipient, text])).toEqual([
      ['ada', expect.stringContaining('gave up a message of yours')],
    ])
    goOn()
  })

  test('where too many messages wait for room, further ones are left to the provider', async () => {
    const { channel, goOn } = await crowded()
    await app.owner`insert into work (id, tenant_id, lane, kind, ref_id,
      origin, state, run_at, concurrency_key)
      select gen_random_uuid(), ${channel.tenantId}, 'ingest', 'channel_fetch', gen_random_uuid(),
        'manual', 'queued', now() + interval '1 hour', 'k' || n
      from generate_series(1, 199) n`
    const before = await recorded(channel)
    const refused = await postDev(app.url, channel, { id: 'evt_22', sender: 'ada' })
    expect([refused.status, refused.headers.get('retry-after'), await recorded(channel)]).toEqual([
      503,
      '30',
      before,
    ])
    goOn()
  })
})

describe('strangers', () => {
  test('begin 30 jobs each within a day, and nothing by more', async () => {
    const channel = await place()
    await begunBefore(app, channel, { sender: 'ada', count: 29 })
    for (const sender of ['ada', 'ada', 'bob'])
      expect((await postDev(app.url, channel, { sender })).status).toBe(200)
    const jobs = await channelJobs(app, channel)
    const senders = (await messagesOf(app, channel))
      .filter(({ job_id }) => jobs.some(({ id }) => id === job_id))
      .map(({ sender }) => sender)
    expect(senders.sort()).toEqual(['ada', 'bob'])
    await dayLater(app, channel)
    expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
    expect(await channelJobs(app, channel)).toHaveLength(3)
  })

  test('begin as many jobs together as the connection says, and members go on', async () => {
    const channel = await place({ config: { dailyJobs: 2 } })
    await linked(app, channel, 'eve')
    for (const sender of ['ada', 'bob', 'cem', 'eve'])
      expect((await postDev(app.url, channel, { sender })).status).toBe(200)
    expect((await messagesOf(app, channel)).map(({ sender }) => sender)).toEqual([
      'ada',
      'bob',
      'eve',
    ])
    expect(await reasons(channel)).toEqual(['the messages of a day are used up'])
  })

  test('are told once a day that members alone are served', async () => {
    const channel = await place({ senderPolicy: 'members' })
    for (const sender of ['ada', 'ada', 'bob', 'ada'])
      expect((await postDev(app.url, channel, { sender })).status).toBe(200)
    expect(await reasons(channel)).toEqual(Array(4).fill('only members are served'))
    expect([await channelJobs(app, channel), await messagesOf(app, channel)]).toEqual([[], []])
    const told = () =>
      app.owner`select recipient, job_id from channel_reply where connection_id = ${channel.id}
        order by id`
    expect((await told()).map(({ recipient, job_id }) => [recipient, job_id])).toEqual([
      ['ada', null],
      ['bob', null],
    ])
    await linked(app, channel, 'ada')
    expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
    expect([await channelJobs(app, channel), await told()].map(({ length }) => length)).toEqual([
      1, 2,
    ])
  })

  test('are told 50 times a day in all that members alone are served', async () => {
    const channel = await place({ senderPolicy: 'members' })
    expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
    // Others have been told, 47 of them within a day.
    await app.owner`insert into inbound_event (tenant_id, source_id, event_id, sender, at)
      select tenant_id, source_id, 'told ' || n, sender,
        at - interval '1 hour' * n / 2 - interval '6 minutes'
        from inbound_event, generate_series(1, 50) n
      where source_id = ${channel.id} and event_id like 'told %'`
    const told = async () =>
      (
        await app.owner`select recipient from channel_reply where connection_id = ${channel.id}
          order by id`
      ).map(({ recipient }) => recipient)
    for (const sender of ['bob', 'cem', 'dan', 'eve'])
      expect((await postDev(app.url, channel, { sender })).status).toBe(200)
    expect(await told()).toEqual(['ada', 'bob', 'cem'])
    await app.owner`update inbound_event set at = at - interval '1 day'
      where source_id = ${channel.id}`
    expect((await postDev(app.url, channel, { sender: 'dan' })).status).toBe(200)
    expect(await told()).toEqual(['ada', 'bob', 'cem', 'dan'])
  })

  test('are strangers again when the member behind them has left', async () => {
    const channel = await place({ senderPolicy: 'members' })
    await linked(app, channel, 'ada')
    await app.owner`update channel_identity set person_id = ${newId()}
      where connection_id = ${channel.id}`
    expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
    expect(await channelJobs(app, channel)).toEqual([])
  })
})

test('a member whose name cannot be forged is held to no number of jobs a day', async () => {
  const channel = await place()
  const identity = await linked(app, channel, 'ada')
  await begunBefore(app, channel, { sender: 'ada', identity, count: dailyJobLimits.ofMember })
  expect((await postDev(app.url, channel, { sender: 'ada' })).status).toBe(200)
  expect(await channelJobs(app, channel)).toHaveLength(1)
})
