import { expect, test } from 'bun:test'

/** What a server loads beside what it always loads, once it may have traces. */
const SCRIPT = `
  const { openTraces } = await import('#server/traces/open')
  await import('#server/serve')
  const loaded = () => Object.keys(require.cache).filter((path) => path.includes('/server/traces/'))
  const before = loaded()
  const settings = { url: 'http://127.0.0.1:9/v1/traces', headers: {}, service: 'x' }
  await openTraces(settings, { log: undefined, counted: undefined, limits: undefined })
  console.log(JSON.stringify([before, loaded()].map((paths) => paths.map((path) => path.replace(/.*\\//, '')).sort())))
  process.exit(0)
`

test('nothing of traces is loaded until they are configured', () => {
  const { stdout } = Bun.spawnSync(['bun', '-e', SCRIPT], { stderr: 'inherit' })
  const [before, after] = JSON.parse(stdout.toString())
  expect(before).toEqual(['open.ts'])
  expect(after).toEqual(['open.ts', 'otlp.ts', 'sender.ts', 'tracer.ts'])
})
