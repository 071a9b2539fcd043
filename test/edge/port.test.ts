import { expect, test } from 'bun:test'
import { testApp } from '#test/support/app'

test('a port that another server uses is refused, not shared', async () => {
  await using app = await testApp()
  const { port } = new URL(app.url)
  const second = testApp({ env: { PORT: port } }).then(
    (other) => other[Symbol.asyncDispose](),
    (cause: unknown) => cause,
  )
  expect(await second).toMatchObject({ code: 'EADDRINUSE' })
})
