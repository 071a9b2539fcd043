/**
 * What operators learn of the S3 bucket: by a command, and from the log of a server that starts.
 */
import { describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
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
