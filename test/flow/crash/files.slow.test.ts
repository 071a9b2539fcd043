/**
 * A server is killed at each point of storing a file in S3: there is no record without its bytes,
 * and what is left there goes after a day.
 */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type postgres from 'postgres'
import { scopes } from '#kernel/scopes'
import { testStops } from '#test/support/actors/stops'
import { type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { openWire } from '#test/support/database/lost-commit'
import { eventually } from '#test/support/eventually'
import {
  type Deployment,
  newDeployment,
  type ServerProcess,
  startServer,
} from '#test/support/processes/server'
import { openS3, type TestS3 } from '#test/support/s3/server'
import { use } from '#test/support/use'

const content = '# Late deliveries\n'.repeat(100)
const sha256 = createHash('sha256').update(content).digest('hex')

type Sends = Pick<ServerProcess | TestApp, 'send'>

const create = ({ send }: Sends, fileName: string, key?: string) =>
  send('POST', '/api/v1/actions/create_artifact', {
    body: { fileName, kind: 'report', mimeType: 'text/markdown', content },
    headers: { 'idempotency-key': fileName },
    ...(key ? { key } : {}),
  })

const artifactsOf = async (
  { send }: Sends,
  key?: string,
): Promise<{ id: string; fileName: string }[]> =>
  (await send('GET', '/api/v1/artifacts', key ? { key } : {})).body.artifacts

const download = async ({ send }: Sends, id: string, key?: string): Promise<string> => {
  const { status, text } = await send('GET', `/api/v1/artifacts/${id}/download`, key ? { key } : {})
  expect(status).toBe(200)
  return createHash('sha256').update(text).digest('hex')
}

/** Lets a day pass, and the next server sweep. */
const sweptAfterADay = async (
  owner: postgres.Sql,
  server: Deployment['server'],
  s3: TestS3,
): Promise<void> => {
  await owner`update file set noted_at = noted_at - interval '25 hours'`
  await owner`update actor set sweep_at = sweep_at - interval '25 hours'`
  const none = async (rows: () => Promise<{ length: number }>) => {
    // Each of them sweeps and removes at its start.
    await using _server = await startServer({ ...server, env: s3.env })
    expect(await eventually(rows, (left) => left.length === 0)).toHaveLength(0)
  }
  await none(async () => await owner`select 1 from file where kept_at is null`)
  await none(async () => await owner`select 1 from file_removal`)
}

/** The objects that rows name. */
const named = async (owner: postgres.Sql): Promise<string[]> =>
  (
    await owner<
      { key: string }[]
    >`select tenant_id || '/' || id as key from file where kept_at is not null order by 1`
  ).map(({ key }) => key)

const s3 = use(openS3)

describe('a server that dies while an artifact is made', () => {
  const points: [place: string, failpoint: string, stored: boolean][] = [
    ['after the key is noted', 'files.noted', false],
    ['after the bytes are stored', 'files.put', true],
  ]
  test.each(points)(
    '%s makes none; the next try does, and the rest is swept',
    async (_, dieAt, stored) => {
      await using deployment = await newDeployment()
      const { owner, server } = deployment
      const dying = await startServer({ ...server, env: s3.env, dieAt })
      const asked = create(dying, 'late.md').catch(() => 'no answer')
      expect(await dying.exited).toBe('SIGKILL')
      expect(await asked).toBe('no answer')
      expect(await owner`select 1 from artifact`).toHaveLength(0)
      const [row] = await owner<
        { key: string; kept: boolean }[]
      >`select tenant_id || '/' || id as key, kept_at is not null as kept from file`
      expect([row!.kept, (await s3.disk.keys()).includes(row!.key)]).toEqual([false, stored])
      {
        await using next = await startServer({ ...server, env: s3.env })
        const answer = await eventually(
          () => create(next, 'late.md').catch(() => undefined),
          (reply) => reply?.status === 200 && reply.body.result !== null,
        )
        const artifacts = await artifactsOf(next)
        expect(artifacts.map(({ fileName }) => fileName)).toEqual(['late.md'])
        expect(answer?.body.result.artifact.id).toBe(artifacts[0]!.id)
        expect(await download(next, artifacts[0]!.id)).toBe(sha256)
      }
      await sweptAfterADay(owner, server, s3)
      const tenant = row!.key.slice(0, 36)
      expect((await s3.disk.keys()).filter((key) => key.startsWith(tenant))).toEqual(
        await named(owner),
      )
    },
  )
})

test('a server that dies during an upload in parts leaves one that is swept, and no file', async () => {
  await using deployment = await newDeployment()
  const { owner, server } = deployment
  const first = await startServer({ ...server, env: s3.env })
  const { tenantId } = await deployment.firstWorkspace()
  first.terminate()
  expect(await first.exited).toBe(0)
  const env = { ...s3.env, FILE_TENANT: tenantId, FILE_MIB: '20' }
  const dying = await startServer({
    ...server,
    env,
    stopAt: 'files.part',
    program: 'test/support/processes/files-server.ts',
  })
  await dying.stopped()
  await dying.kill()
  const uploads = async () =>
    (await s3.disk.uploads()).filter(({ key }) => key.startsWith(tenantId))
  expect([(await uploads()).length, await named(owner)]).toEqual([1, []])
  await sweptAfterADay(owner, server, s3)
  expect([
    await uploads(),
    (await s3.disk.keys()).filter((key) => key.startsWith(tenantId)),
  ]).toEqual([[], []])
})

test('a commit whose answer is lost makes one artifact, with its bytes', async () => {
  const stops = testStops()
  await using database = await freshDb()
  await using wire = await openWire(database.options)
  await using app = await testApp({
    database: wire.options,
    env: s3.env,
    overrides: { failpoints: stops.at },
  })
  const { api_key: key } = await app.newKey([...scopes])
  const stopped = stops.stopNext('files.put')
  const asked = create(app, 'late.md', key)
  const goOn = await stopped
  const [note] = await app.owner<{ id: string }[]>`select id from file`
  const lost = wire.loseCommitOf(note!.id)
  goOn()
  await lost
  const { status } = await asked
  expect([200, 202]).toContain(status)
  const answer = await eventually(
    () => create(app, 'late.md', key),
    (reply) => reply.status === 200,
  )
  const artifacts = await artifactsOf(app, key)
  expect(artifacts.map(({ id }) => id)).toEqual([answer.body.result.artifact.id])
  expect(await download(app, artifacts[0]!.id, key)).toBe(sha256)
})
