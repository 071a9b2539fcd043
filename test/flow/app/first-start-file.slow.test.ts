/** TENDRIL_FIRST_START=file: logs of containers are kept for ever, so key and link go to a file. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { start } from '#test/support/processes/started'
import { use } from '#test/support/use'

const SECRETS = /ak_[0-9A-Za-z]{36}|inv_[\w-]{32}/

const folder = use(temporaryFolder)

const urlOf = (out: string): string => /listens on (\S+)/.exec(out)![1]!

const joinBy = async (url: string, link: string): Promise<Response> => {
  const body = {
    token: new URL(link).searchParams.get('token'),
    email: 'ada@example.com',
    name: 'Ada',
    password: 'correct horse battery staple',
  }
  const headers = { 'content-type': 'application/json' }
  return await fetch(`${url}/api/v1/app/invitations/accept`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
}

test('the first start prints a path, and the file is there until the owner has joined', async () => {
  const TENDRIL_HOME = join(folder.path, 'filed')
  const env = { TENDRIL_HOME, TENDRIL_FIRST_START: 'file', PORT: '0', LOG_LEVEL: 'trace' }
  const path = join(TENDRIL_HOME, 'first-start.json')
  let made: { workspace_id: string; api_key: string; sign_in_url: string }
  {
    await using first = await start(env)
    expect(first.out).toContain(`File       ${path}`)
    expect(`${first.out}${first.err()}`).not.toMatch(SECRETS)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    made = JSON.parse(readFileSync(path, 'utf8'))
    const headers = { authorization: `Bearer ${made.api_key}` }
    const answer = await fetch(`${urlOf(first.out)}/api/v1/growth/overview`, { headers })
    expect(answer.status).toBe(200)
  }
  await using second = await start(env)
  expect(`${second.out}${second.err()}`).not.toMatch(SECRETS)
  expect(second.out).not.toContain('File')
  expect(existsSync(path)).toBe(true)
  const joined = await joinBy(urlOf(second.out), made.sign_in_url)
  expect(joined.status).toBe(201)
  await eventually(
    () => existsSync(path),
    (is) => !is,
  )
})

test('a start that cannot write the file makes no key', async () => {
  await using refused = await start({
    TENDRIL_HOME: '/proc/tendril',
    TENDRIL_FIRST_START: 'file',
    PORT: '0',
  })
  expect([refused.code, refused.out]).toEqual([1, ''])
})

test('without HOME and TENDRIL_HOME there is no home, and never the working folder', () => {
  expect(readConfig({}, false).home).toBeUndefined()
  expect(readConfig({ HOME: '/home/ada' }, false).home).toBe('/home/ada/.tendril/server')
  expect(readConfig({}, true).home).toBe('/var/lib/tendril')
})
