/** What deploy/ has for those who run servers, read by the programs that it is for. */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spread } from '#kernel/tally'
import { familiesOf } from '#server/metrics/families'
import { Meters } from '#server/metrics/meters'
import { temporaryFolder } from '#test/support/folder'

const READERS = [
  'deploy/grafana/tendril.json',
  'deploy/prometheus/alerts.yml',
  'deploy/prometheus/alerts.test.yml',
  'docs/operating.md',
]

/** The metrics of a page. */
const families = familiesOf({
  meters: new Meters(),
  queued: { control: 0, interactive: 0, background: 0, oldest: Number.POSITIVE_INFINITY },
  now: 0,
  awake: 0,
  pools: [],
  streams: 0,
  mcpSessions: 0,
  loopDelay: new Spread([1]),
  readiness: { held: false },
  counts: undefined,
  disk: undefined,
  backup: undefined,
  process: { rss: 0, heap: 0, cpuSeconds: 0, startedAt: 0 },
  build: { version: '1.2.3', commit: 'abc' },
})
const names = families.flatMap(({ name, type }) =>
  type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
)

test.each(READERS)('%s names only metrics that there are', (path) => {
  const named = readFileSync(path, 'utf8').match(/\btendril_[a-z_]+/g) ?? []
  expect(named.length).toBeGreaterThan(10)
  expect([...new Set(named)].filter((name) => !names.includes(name))).toEqual([])
})

test('docs/operating.md names every metric, and every alert', () => {
  const page = readFileSync('docs/operating.md', 'utf8')
  const alerts = readFileSync('deploy/prometheus/alerts.yml', 'utf8').matchAll(/alert: (\w+)/g)
  const wanted = [...families.map(({ name }) => name), ...[...alerts].map(([, name]) => name!)]
  expect(wanted.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

interface Ran {
  code: number
  said: string
}

const run = (command: string[], env: Record<string, string> = {}): Ran => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  return { code: exitCode, said: `${stdout}${stderr}` }
}

/** Skipped, by this name, where the program is not installed. */
const testWith = (program: string) =>
  test.skipIf(Bun.which(program) === null).bind(null) as typeof test

testWith('promtool')('with promtool: the alerts are valid, and fire when they should', () => {
  expect(run(['promtool', 'check', 'config', 'deploy/prometheus/prometheus.yml']).code).toBe(0)
  const { code, said } = run(['promtool', 'test', 'rules', 'deploy/prometheus/alerts.test.yml'])
  expect([code, said]).toEqual([0, expect.stringContaining('SUCCESS')])
})

testWith('systemd-analyze')(
  'with systemd-analyze: the unit is valid, and has few rights',
  async () => {
    await using folder = await temporaryFolder()
    const unit = join(folder.path, 'tendril.service')
    // The program is not installed where this test runs.
    const text = readFileSync('deploy/tendril.service', 'utf8')
    writeFileSync(unit, text.replace('/usr/local/bin/tendril', '/bin/true'))
    expect(run(['systemd-analyze', 'verify', unit])).toEqual({ code: 0, said: '' })
    const strict = ['systemd-analyze', 'security', '--offline=true', '--threshold=30', unit]
    expect(run(strict).code).toBe(0)
  },
)

testWith('docker-compose')('with docker-compose: the file is valid, and asks for secrets', () => {
  const command = ['docker-compose', '-f', 'deploy/compose.yml', 'config']
  expect(run(command).code).not.toBe(0)
  const env = {
    POSTGRES_URL: 'postgres://tendril@db.example.com/tendril',
    TENDRIL_SECRET_KEY: 'AAAA',
    PUBLIC_URL: 'https://tendril.example.com',
    METRICS_TOKEN: 'a-token-of-some-length',
  }
  const { code, said } = run(command, env)
  expect([code, said]).toEqual([0, expect.stringContaining(env.POSTGRES_URL)])
})
