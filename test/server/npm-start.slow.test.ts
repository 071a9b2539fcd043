/** `npm start`, as supervisors and people end it. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { freePort } from '#test/support/processes/server'

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )

test('SIGTERM to `npm start` ends the server, not npm alone', async () => {
  await using folder = await temporaryFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    TENDRIL_HOME: join(folder.path, 'home'),
    PORT: String(port),
  }
  const npm = Bun.spawn(['npm', 'start'], { env, stdio: ['ignore', 'ignore', 'ignore'] })
  await eventually(
    () => answers(url),
    (is) => is,
    60_000,
  )
  npm.kill('SIGTERM')
  await npm.exited
  await eventually(
    () => answers(url),
    (is) => !is,
    30_000,
  )
  expect(await answers(url)).toBe(false)
})
