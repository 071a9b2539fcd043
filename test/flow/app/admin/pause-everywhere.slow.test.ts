/** `tendril admin pause --all` while servers are stopped, killed and started, or a table locked. */
import { expect, test } from 'bun:test'
import { eventually, testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { makeItemDue } from '#test/support/database/writes'
import { storyAt, textOf } from '#test/support/growth/story'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'

const hour = 3_600_000

test('a server that was stopped is named with what it may send; once it is killed nothing goes out, and after resuming each post once', async () => {
  await using deployment = await newDeployment()
  const { owner } = deployment
  const pause = async () => {
    const { code, out, err } = await runAdmin(deployment.server, 'pause', '--all')
    return { code, err, json: JSON.parse(out) }
  }
  // It makes the workspace, and owns it.
  await using stopping = await startServer({ ...deployment.server, stopAt: 'send.claimed' })
  await using other = await startServer(deployment.server)
  const story = storyAt({ owner, send: stopping.send }, await deployment.firstWorkspace())
  const later = await story.scheduled(hour)
  const claimed = await story.scheduled(0)
  await stopping.stopped()
  const [node] = await owner`select incarnation as id, url from node where url = ${stopping.url}`
  const named = await pause()
  expect(named).toMatchObject({
    code: 1,
    err: expect.stringContaining(`${node!.id} at ${stopping.url}`),
    json: {
      servers: 1,
      unanswered: [node],
      under_way: [{ record: 'item', id: claimed, origin: 'automatic', server: node!.id }],
    },
  })
  await stopping.kill()
  // The other server takes the workspace and settles what was left: nobody knows if it was sent.
  await eventually(
    () => owner`select status from item where id = ${claimed}`,
    ([item]) => item!.status === 'publish_unconfirmed',
  )
  expect(await pause()).toMatchObject({ code: 0, json: { servers: 1, unanswered: [] } })
  await using third = await startServer(deployment.server)
  await other.kill()
  const at = story.at({ owner, send: third.send })
  await makeItemDue({ owner }, later)
  // A person's own runs, and after it the lanes have looked at all that is due.
  const own = await at.approved()
  expect((await at.postNow(own)).body.item.status).toBe('posted')
  expect(await at.posts()).toEqual({ [textOf(own)]: 1 })
  expect(third.output()).toContain('the operator has paused every workspace')
  await runAdmin(deployment.server, 'resume', '--all')
  await at.settled(later, 'posted')
  expect(await at.posts()).toEqual({ [textOf(own)]: 1, [textOf(later)]: 1 })
  expect((await at.item(claimed)).status).toBe('publish_unconfirmed')
}, 120_000)

test('a database that does not answer while servers are waited for is said, and the pause stands', async () => {
  await using app = await testApp()
  const { runtime } = app.workplace
  const deployment = {
    key: app.key,
    database: app.options,
    secret: TEST_SECRET.toString('base64'),
  }
  const session = await app.owner.reserve()
  await session`select pg_advisory_lock(7)`
  await session`insert into node (incarnation, lock_key, url, expires_at)
    values (gen_random_uuid(), 7, 'http://10.0.0.9:7070', now() + interval '4900 milliseconds')`
  const waiting = runAdmin(deployment, 'pause', '--all')
  const since = await eventually(
    async () => runtime.hold.everywhere,
    (known) => known !== null,
  )
  await session`begin`
  await session`lock table node in access exclusive mode`
  const { code, err } = await waiting
  expect(code).not.toBe(0)
  expect(err).toContain(
    `every workspace has been paused since ${since!.toISOString()}, but which servers have recalled`,
  )
  await session`delete from node`
  await session`commit`
  // Now all servers answer, and then what is under way cannot be read.
  await session`begin`
  await session`lock table work in access exclusive mode`
  expect(await runAdmin(deployment, 'pause', '--all')).toMatchObject({
    code: 1,
    err: expect.stringContaining('but what is under way is not known'),
    out: expect.stringContaining('"under_way":null'),
  })
  await session`rollback`
  session.release()
  await eventually(
    async () => (await runAdmin(deployment, 'pause', '--all')).code,
    (done) => done === 0,
  )
}, 120_000)
