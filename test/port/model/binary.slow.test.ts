import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { newApiKey } from '#kernel/api-key'
import { build } from '#src/scripts/build'
import { startProcess } from '#test/bench/spawn'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { softwareProfile } from '#test/support/growth/profiles'

test('the single binary contains the program of the worker, and drafts with it', async () => {
  await using folder = await temporaryFolder()
  const binary = await build(
    join(import.meta.dir, '../../../src/main.ts'),
    join(folder.path, 'tendril'),
  )
  const key = newApiKey()
  await using server = await startProcess([binary], {
    TENDRIL_HOME: join(folder.path, 'home'),
    TENDRIL_BOOTSTRAP_KEY: key,
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const call = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ batch: { id: string; status: string } }> => {
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (
      await fetch(`http://127.0.0.1:${server.port}/api/v1/growth/${path}`, request)
    ).json() as never
  }
  const { goal, writing_dna } = softwareProfile
  await call('PUT', 'profile', { goal, writing_dna })
  const asked = await call('POST', 'batches', { count: 3 })
  const { batch } = await eventually(
    () => call('GET', `batches/${asked.batch.id}`),
    (answer) => !['queued', 'generating'].includes(answer.batch.status),
  )
  expect(batch).toMatchObject({ status: 'ready', model: 'composer', delivered: 3 })
}, 180_000)
