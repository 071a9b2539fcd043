/** A real Prometheus that scrapes servers, with the alerts of deploy/ made quick. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '#test/support/app'
import { temporaryFolder } from '#test/support/folder'
import { freePort } from '#test/support/processes/server'

export interface Prometheus extends AsyncDisposable {
  /** The value of each series that the query finds, by its labels. */
  query(query: string): Promise<{ labels: Record<string, string>; value: number }[]>
  /** The health of each target, by its address. */
  targets(): Promise<Record<string, string>>
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>
}

/** An alert waits for minutes, and looks back for more: a harness has no such time. */
const quick = (rules: string): string =>
  rules.replaceAll(/for: \d+m/g, 'for: 2s').replaceAll(/\[5m\]/g, '[20s]')

const configuration = (targets: string[], token: string): string =>
  JSON.stringify({
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [
      {
        job_name: 'tendril',
        authorization: { credentials: token },
        static_configs: [{ targets }],
      },
    ],
  })

/** `targets`: `host:port` of the servers. */
export const startPrometheus = async (targets: string[], token: string): Promise<Prometheus> => {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  writeFileSync(join(path, 'prometheus.yml'), configuration(targets, token))
  const rules = readFileSync('deploy/prometheus/alerts.yml', 'utf8')
  writeFileSync(join(path, 'alerts.yml'), quick(rules))
  if (!Bun.which('prometheus')) throw new Error('this needs Prometheus: apt install prometheus')
  const address = `127.0.0.1:${await freePort()}`
  const child = Bun.spawn(
    [
      'prometheus',
      `--config.file=${path}/prometheus.yml`,
      `--storage.tsdb.path=${path}/data`,
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
  stack.defer(async () => {
    child.kill()
    await child.exited
  })
  const get = async (name: string) => {
    const response = await fetch(`http://${address}${name}`)
    // biome-ignore lint/suspicious/noExplicitAny: each path answers in a shape of its own
    return response.ok ? ((await response.json()) as { data: any }).data : undefined
  }
  await eventually(
    () => get('/api/v1/targets').catch(() => undefined),
    (found) => found !== undefined,
  )
  const owned = stack.move()
  return {
    async query(query) {
      const { result } = await get(`/api/v1/query?query=${encodeURIComponent(query)}`)
      return result.map(
        ({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => ({
          labels: metric,
          value: Number(value[1]),
        }),
      )
    },
    async targets() {
      const { activeTargets } = await get('/api/v1/targets')
      return Object.fromEntries(
        activeTargets.map(
          ({ labels, health }: { labels: { instance: string }; health: string }) => [
            labels.instance,
            health,
          ],
        ),
      )
    },
    async firing() {
      const { alerts } = await get('/api/v1/alerts')
      const fires = alerts.filter(({ state }: { state: string }) => state === 'firing')
      return [
        ...new Set<string>(
          fires.map(({ labels }: { labels: { alertname: string } }) => labels.alertname),
        ),
      ]
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
