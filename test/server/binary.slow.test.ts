/** The single binary, started in an empty folder: what it carries, it also uses. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { consoleBundle } from '#edge/console/bundle'
import { newApiKey } from '#kernel/api-key'
import { filesBuiltApart } from '#server/console'
import { build } from '#src/scripts/build'
import { type Running, startProcess } from '#test/bench/spawn'
import { eventually } from '#test/support/eventually'
import { type TemporaryFolder, temporaryFolder } from '#test/support/folder'
import { softwareProfile } from '#test/support/growth/profiles'

const BUILT_WITHIN_MS = 180_000

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('the single binary', () => {
  const key = newApiKey()
  let folder: TemporaryFolder
  let server: Running
  let url: string

  beforeAll(async () => {
    folder = await temporaryFolder()
    const main = join(import.meta.dir, '../../src/main.ts')
    const binary = await build(main, join(folder.path, 'tendril'))
    server = await startProcess([binary], {
      TENDRIL_HOME: join(folder.path, 'home'),
      TENDRIL_BOOTSTRAP_KEY: key,
    })
    url = `http://127.0.0.1:${server.port}`
  }, BUILT_WITHIN_MS)
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  test('contains the program of the worker, and drafts with it', async () => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const call = async (
      method: string,
      path: string,
      body?: object,
    ): Promise<{ batch: { id: string; status: string } }> => {
      const request = { method, headers, ...(body && { body: JSON.stringify(body) }) }
      return (await fetch(`${url}/api/v1/growth/${path}`, request)).json() as never
    }
    const { goal, writing_dna } = softwareProfile
    await call('PUT', 'profile', { goal, writing_dna })
    const asked = await call('POST', 'batches', { count: 3 })
    const { batch } = await eventually(
      () => call('GET', `batches/${asked.batch.id}`),
      (answer) => !['queued', 'generating'].includes(answer.batch.status),
    )
    expect(batch).toMatchObject({ status: 'ready', model: 'composer', delivered: 3 })
  })

  test('serves the console, file for file the one that is built from source', async () => {
    const { assets } = consoleBundle(await filesBuiltApart())
    expect(assets.size).toBeGreaterThan(5)
    for (const [name, { type, etag, plain }] of assets) {
      const response = await fetch(`${url}/console/${name}`)
      const { status, headers } = response
      const bytes = await response.bytes()
      expect([name, status, headers.get('content-type'), sha256(bytes)]).toEqual([
        name,
        200,
        type,
        sha256(plain),
      ])
      expect(headers.get('etag')?.replace('W/', '')).toBe(etag)
    }
  })

  test('answers for a file of another build with 404, and leads who is signed out to sign in', async () => {
    const gone = await fetch(`${url}/console/main-00000000.js`)
    expect([gone.status, gone.headers.get('content-type')]).toEqual([
      404,
      'application/json; charset=utf-8',
    ])
    const page = await fetch(`${url}/console/settings/keys`, { redirect: 'manual' })
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      '/sign-in?next=%2Fconsole%2Fsettings%2Fkeys',
    ])
  })
})
