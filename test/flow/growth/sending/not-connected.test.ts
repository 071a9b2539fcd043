/**
 * `x_not_connected` although other accounts are connected: it says which, and what to call. Without
 * any, the code alone.
 */

import { describe, expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { freshDb } from '#test/support/database/db'
import { approvedEngagement } from '#test/support/growth/engagements'
import { postAgain, putInReview, refusal } from '#test/support/growth/post-again'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { unreliable } from '#test/support/growth/unreliable'
import { connectMcp } from '#test/support/mcp/mcp'
import { signedIn } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const database = use(freshDb)
const points = testFailpoints()
const app = useApp(() => ({
  database: database.options,
  overrides: { failpoints: points.at, times: { ...sendTimes, settleMs: 20, windowMs: 60 } },
}))

const CHOOSE = 'growth.connections.setDefault'
const next = (message: string) => [{ path: 'next', message }]

/** A workspace with its first account, the default one, and as many others. */
const withAccounts = async (others: number) => {
  const story = await newStory(app)
  const { key } = await signedIn(app, story.tenantId)
  const disconnect = (id: string) => app.send('DELETE', `/api/v1/app/connections/${id}`, { key })
  const [first] = (await story.send('GET', 'connections')).body.connections
  const added = []
  for (let n = 0; n < others; n++) {
    const body = { handle: `h${n}-${story.tenantId.slice(-12)}` }
    added.push(
      (await app.send('POST', '/api/v1/app/connections/sandbox', { key, body })).body.connection
        .account,
    )
  }
  return { story, key, disconnect, first, others: added }
}

const named = ({ id, handle }: { id: string; handle: string }) => `@${handle} on sandbox (${id})`
const engaged = async (story: Story) =>
  (await approvedEngagement(app, story, { action: 'like' })).id

describe('x_not_connected', () => {
  test('of an item that no account was bound to names the accounts and the call that chooses', async () => {
    const { story, disconnect, first, others } = await withAccounts(1)
    await disconnect(first.id)
    const item = await story.approved()
    const { status, body } = await story.send('POST', `items/${item}/post-now`)
    expect([status, body.error.code]).toEqual([400, 'x_not_connected'])
    expect(body.error.message).toBe(
      `x_not_connected: no account is the default; connected: ${named(others[0])}; ${CHOOSE} chooses`,
    )
    expect(body.error.details).toEqual(next(`${CHOOSE} ${others[0].id}`))
    expect((await story.send('POST', `connections/${others[0].id}/default`)).status).toBe(200)
    expect((await story.send('POST', `items/${item}/post-now`)).status).toBe(200)
  })

  test('names five accounts at most, and where the others are', async () => {
    const { story, disconnect, first, others } = await withAccounts(6)
    await disconnect(first.id)
    const { error } = (await story.send('DELETE', 'connection')).body
    expect(error.message).toStartWith('x_not_connected: no account is the default; connected: @')
    expect(error.message).toContain(' and more (growth.connections.list)')
    expect(others.filter(({ id }) => error.message.includes(id))).toHaveLength(5)
    expect(error.details).toHaveLength(5)
  })

  test('of an item approved for an account that is gone names that account, the others, and the call that takes one', async () => {
    const { story, disconnect, first, others } = await withAccounts(1)
    const item = await story.approved()
    await disconnect(first.id)
    await story.send('POST', `connections/${others[0].id}/default`)
    const { error } = (await story.send('POST', `items/${item}/post-now`)).body
    const why = `the item was approved for @${first.handle}, which is disconnected; connected: ${named(others[0])}`
    expect(error).toMatchObject({
      message: `x_not_connected: ${why}; growth.items.edit takes another as account`,
      details: next(`growth.items.edit ${item}`),
    })
    expect(
      (await story.send('PATCH', `items/${item}`, { body: { account: others[0].id } })).status,
    ).toBe(200)
    expect((await story.send('POST', `items/${item}/approve`)).status).toBe(200)
    expect((await story.send('POST', `items/${item}/post-now`)).body.item.status).toBe('posted')
  })

  test('of an engagement names reopen, which leads on', async () => {
    const { story, disconnect, first, others } = await withAccounts(1)
    const id = await engaged(story)
    await disconnect(first.id)
    await story.send('POST', `connections/${others[0].id}/default`)
    const { error } = (await story.send('POST', `engagements/${id}/execute`)).body
    expect(error.message).toStartWith(
      `x_not_connected: the engagement was approved for @${first.handle}, which is disconnected; `,
    )
    expect(error.details).toEqual(next(`growth.engagements.reopen ${id}`))
    for (const verb of ['reopen', 'approve', 'execute'])
      expect([verb, (await story.send('POST', `engagements/${id}/${verb}`)).status]).toEqual([
        verb,
        200,
      ])
  })

  test('while a post waits for its turn: the caller is told which accounts are left', async () => {
    const { story, disconnect, first, others } = await withAccounts(1)
    const item = await story.approved()
    points.arm('send.claimed', 'hang')
    const waiting = story.send('POST', `items/${item}/post-now`)
    await points.reached('send.claimed')
    await disconnect(first.id)
    const { error } = (await waiting).body
    points.release('send.claimed')
    expect(error.message).toStartWith('x_not_connected: ')
    expect(error.message).toContain(named(others[0]))
    expect(error.message).not.toContain(named(first))
  })

  test('is the code alone where nothing is connected', async () => {
    const { story, disconnect, first } = await withAccounts(0)
    const [item, id] = [await story.approved(), await engaged(story)]
    await disconnect(first.id)
    const bare = {
      code: 'x_not_connected',
      message: 'x_not_connected',
      request_id: expect.any(String),
    }
    for (const path of [`items/${item}/post-now`, `engagements/${id}/execute`])
      expect((await story.send('POST', path)).body.error).toEqual(bare)
    expect((await story.send('DELETE', 'connection')).body.error).toEqual(bare)
  })

  test('over MCP leads to the same calls, as tools', async () => {
    const { story, disconnect, first, others } = await withAccounts(2)
    await disconnect(first.id)
    const item = await story.approved()
    await using mcp = await connectMcp(app.url, { key: story.key })
    const { content } = await mcp.call('growth_post_item', { id: item })
    const call = ({ id }: { id: string }) => `growth_set_default_account ${JSON.stringify({ id })}`
    const text = (content as { text: string }[])[0]!.text
    expect(text).toContain(`ask a person; once they agree, ${others.map(call).join(' or ')}`)
  })
})

test('GET connection names the accounts and the call that chooses, if none is the default', async () => {
  const { story, disconnect, first, others } = await withAccounts(1)
  const shown = async () => (await story.send('GET', 'connection')).body.connection
  expect(await shown()).toMatchObject({ connected: true, choose: null })
  const [{ id, network, handle }] = others
  const choose = { call: CHOOSE, accounts: [{ id, network, handle }] }
  expect((await story.send('DELETE', 'connection')).body.connection).toMatchObject({
    connected: false,
    account: null,
    choose,
  })
  expect(await shown()).toMatchObject({ connected: false, account: null, choose })
  expect((await story.send('POST', `connections/${id}/default`)).body.connection).toMatchObject({
    connected: true,
    choose: null,
  })
  expect(await shown()).toMatchObject({ connected: true, choose: null })
  await disconnect(id)
  expect(await shown()).toMatchObject({ connected: false, choose: null })
  expect(first.id).not.toBe(id)
})

test('x_not_connected of a post that a person confirms again: nothing goes out if the account is disconnected between read and send, and the doubt stays', async () => {
  const story = await newStory(app)
  const network = unreliable(app)
  const id = await story.approved()
  await putInReview(app, story, { network, id })
  points.arm('send.claimed', 'hang')
  const pending = refusal(postAgain(app, story, id))
  await points.reached('send.claimed')
  await story.send('DELETE', 'connection')
  points.release('send.claimed')
  expect(await pending).toStartWith('x_not_connected')
  expect(await story.item(id)).toMatchObject({ status: 'publish_unconfirmed', review: true })
  expect(
    (await app.owner`select state from attempt where item_id = ${id} order by number`).map(
      ({ state }) => state,
    ),
  ).toEqual(['review', 'failed'])
  expect(network.sent.filter((text) => text === textOf(id))).toHaveLength(1)
  expect(await refusal(postAgain(app, story, id))).toStartWith('x_not_connected')
})
