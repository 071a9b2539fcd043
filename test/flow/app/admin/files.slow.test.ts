/**
 * What operators learn of the S3 bucket: by a command, and from the log of a server that starts.
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { newId } from '#kernel/ids'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { openBucket } from '#port/files/s3/bucket'
import { openDb } from '#store/engine/db'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { newDeployment, runAdmin, startServer } from '#test/support/processes/server'
import { openS3, s3Env } from '#test/support/s3/server'
import { use } from '#test/support/use'

const s3 = use(openS3)
const deployment = use(newDeployment)

const check = (env: Record<string, string>) =>
  runAdmin({ ...deployment.server, env }, 'files', 'check')

describe('admin files check', () => {
  test('says where files are kept, and that a good bucket works', async () => {
    expect((await check({})).json).toEqual({ store: 'postgres' })
    expect((await check(s3.env)).json).toEqual({
      store: 's3',
      endpoint: s3.settings.endpoint,
      bucket: s3.settings.bucket,
      works: true,
    })
  })

  test('says what is wrong, and fails', async () => {
    const { code, err } = await check(s3Env({ ...s3.settings, secretAccessKey: 'wrong' }))
    expect([code, err.trim()]).toEqual([
      8,
      'tendril admin: storing an object failed: S3_SECRET_ACCESS_KEY is not the secret of S3_ACCESS_KEY_ID',
    ])
  })

  test('refuses settings that are set by halves', async () => {
    const { code, err } = await check({ ...s3.env, S3_BUCKET: '' })
    expect([code, err]).toEqual([2, expect.stringContaining('S3_BUCKET is not set: ')])
  })
})

test('a server starts with a bucket that does not work, and says what is wrong with it', async () => {
  const env = s3Env({ ...s3.settings, bucket: 'elsewhere' })
  await using server = await startServer({ ...deployment.server, env })
  const said = await eventually(
    () => server.output(),
    (output) => output.includes('files cannot be kept in S3'),
  )
  expect(said).toContain(
    `files cannot be kept in S3: storing an object failed: there is no bucket elsewhere at ${s3.settings.endpoint}`,
  )
})

test('a server does not start with settings that are set by halves', async () => {
  const starting = startServer({ ...deployment.server, env: { S3_BUCKET: 'files' } })
  await expect(starting).rejects.toThrow(
    'S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY are not set',
  )
})

describe('admin files check --against', () => {
  const folder = use(temporaryFolder)
  const run = (env: Record<string, string>, ...args: string[]) =>
    runAdmin({ ...deployment.server, env }, ...args)

  test('names the files of a backup that the bucket lacks, or has in another size', async () => {
    const { owner } = deployment
    await using db = openDb({ ...deployment.server.database!, max: 1 })
    const tenant = await createWorkspace(db, 'First')
    const ids = [newId(), newId(), newId()].sort()
    for (const id of ids)
      await owner`insert into file (id, tenant_id, store, byte_size, sha256, digests, kept_at)
        values (${id}, ${tenant}, 's3', 4, repeat('0', 64), decode(repeat('00', 32), 'hex'), now())`
    const [good, short, gone] = ids.map((id) => `${tenant}/${id}`) as [string, string, string]
    using bucket = await openBucket(s3.settings)
    const signal = AbortSignal.timeout(30_000)
    await bucket.put(good, Buffer.from('four'), signal)
    await bucket.put(short, Buffer.from('one'), signal)
    const to = join(folder.path, 'b.tar.zst')
    const made = await run(s3.env, 'backup', to, '--mb-per-second', '100')
    expect([made.code, made.err]).toEqual([
      0,
      expect.stringMatching(/^[^\n]*not encrypted[^\n]*\n$/),
    ])
    const check = () => run(s3.env, 'files', 'check', '--against', to)
    const { code, err } = await check()
    expect([code, err.trim().split('\n').sort()]).toEqual([
      6,
      [
        `${short} (4 bytes) has another size`,
        `${gone} (4 bytes) is missing`,
        'tendril admin: of 3 files of the backup, 2 are not in the bucket as they were',
      ].sort(),
    ])
    for (const key of [short, gone]) await bucket.put(key, Buffer.from('four'), signal)
    const { endpoint, region, bucket: name } = s3.settings
    expect((await check()).json).toMatchObject({
      backup: to,
      bucket: name,
      stored_files: { store: 's3', endpoint, bucket: name, region },
      files: 3,
      missing: 0,
    })
    expect((await run({}, 'files', 'check', '--against', to)).err).toContain('set S3_ENDPOINT')
  })
})
