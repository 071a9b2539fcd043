/**
 * `tendril admin webhook …` beside a running server and without one. The server is a process of its
 * own, which is killed.
 */
import { beforeAll, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { newId } from '#kernel/ids'
import { eventually } from '#test/support/eventually'
import { idOf } from '#test/support/http/hooks'
import { openReceiver, type Received } from '#test/support/http/receiver'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

let env: Record<string, string>
let workspace: string[]
const deployment = use(newDeployment)
const receiver = use(openReceiver)
beforeAll(async () => {
  env = { EGRESS_ALLOW: `127.0.0.1:${receiver.port}` }
  await (await start())[Symbol.asyncDispose]()
  workspace = ['--workspace', (await deployment.firstWorkspace()).tenantId]
})

const admin = (...args: string[]) => runAdmin({ ...deployment.server, env }, 'webhook', ...args)

const start = () => startServer({ ...deployment.server, env })
const verified = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

const delivered = async (id: string): Promise<void> => {
  const state = async () =>
    (await deployment.owner`select state from outbox where id = ${id}`)[0]!.state
  expect(await eventually(state, (is) => is === 'delivered')).toBe('delivered')
}

test('an operator sets, tests, rotates, replays and disables a webhook, whichever process owns the workspace', async () => {
  receiver.requests.length = 0
  let secret: string
  {
    await using server = await start()
    await server.send('PUT', 'profile', { body: { goal: 'makes this server own the workspace' } })
    const set = await admin(
      'set',
      ...workspace,
      '--url',
      receiver.url,
      '--events',
      'growth.item.posted',
    )
    expect(set).toMatchObject({
      code: 0,
      json: {
        workspace_id: workspace[1],
        url: receiver.url,
        events: ['growth.item.posted'],
        status: 'active',
      },
    })
    secret = set.json.secret
    expect(secret).toStartWith('whsec_')
    const { json } = await admin('test', ...workspace)
    const [request] = await receiver.received(1)
    expect(verified(secret, request!)).toMatchObject({
      id: json.event_id,
      type: 'webhook.test',
      workspace_id: workspace[1],
    })
    expect(server.output()).not.toContain(secret)
    await delivered(json.event_id)
  }
  // No process owns the workspace now: what the command leaves behind waits for a server.
  const rotated = await admin('rotate', ...workspace)
  expect(rotated.json.secret).not.toBe(secret)
  const { json } = await admin('test', ...workspace)
  expect(receiver.requests).toHaveLength(1)
  expect((await admin('events', ...workspace)).json.events[0]).toMatchObject({
    id: json.event_id,
    state: 'pending',
    attempts: 0,
  })
  await using _server = await start()
  const [, request] = await receiver.received(2)
  for (const signingSecret of [secret, rotated.json.secret])
    expect(verified(signingSecret, request!)).toMatchObject({ id: json.event_id })
  expect((await admin('replay', ...workspace, '--id', json.event_id)).code).toBe(0)
  expect((await receiver.received(3)).map(idOf).slice(1)).toEqual([json.event_id, json.event_id])
  expect((await admin('disable', ...workspace)).json).toMatchObject({
    status: 'disabled',
    disabled_reason: 'an operator disabled it',
  })
  expect(await admin('test', ...workspace)).toMatchObject({ code: 7 })
})

test('a wrong argument is refused with the exit code of its kind', async () => {
  const set = (...args: string[]) => admin('set', ...args)
  expect(await set(...workspace, '--url', 'https://169.254.169.254/')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the address is not public'),
  })
  expect(await set(...workspace, '--url', receiver.url, '--events', 'nonsense')).toMatchObject({
    code: 2,
  })
  expect(await set('--workspace', newId(), '--url', receiver.url)).toMatchObject({
    code: 6,
    err: expect.stringContaining('no such workspace'),
  })
})
