/**
 * How long a command takes in all: the bundle under Node and the binary, compared with minimal
 * programs.
 */
import { join } from 'node:path'
import { build } from '#src/scripts/build'
import { buildCli } from '#src/scripts/build-cli'
import { temporaryFolder } from '../../support/folder.ts'
import { median, type Row } from '../figures.ts'
import { addDrafts, startServer, type World } from '../world.ts'

interface Run {
  ms: number
  /** Processor time, in milliseconds. */
  cost: number
}

interface Contestant {
  name: string
  command: string[]
  runs: Run[]
}

const run = async (command: string[], env: Record<string, string>): Promise<Run> => {
  const began = performance.now()
  const child = Bun.spawn(command, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await child.exited
  if (code !== 0) throw new Error(`${command.join(' ')} ended with code ${code}`)
  return {
    ms: performance.now() - began,
    cost: Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1_000,
  }
}

/** In turns, so that other load on the machine affects all alike. */
const race = async (
  contestants: Contestant[],
  env: Record<string, string>,
  rounds: number,
): Promise<void> => {
  for (let round = 0; round <= rounds; round++)
    for (const { command, runs } of contestants) {
      const one = await run(command, env)
      // The first run finds the file cold.
      if (round > 0) runs.push(one)
    }
}

const rowsOf = (what: string, [peer, ...ours]: Contestant[]): Row[] => {
  const ratio = (runs: Run[], key: keyof Run) =>
    median(runs.map((one, round) => peer!.runs[round]![key] / one[key]))
  const figures = (runs: Run[]) => ({ ms: median(runs.map((one) => one.ms)) })
  return ours.map(({ name, runs }) => ({
    what: `\`${what}\`, ${name}`,
    figures: figures(runs),
    peers: [
      {
        name: peer!.name,
        figures: figures(peer!.runs),
        ratio: ratio(runs, 'ms'),
        costRatio: ratio(runs, 'cost'),
      },
    ],
  }))
}

const EMPTY = ''
const GET = `import { request } from 'node:http'
const headers = { authorization: 'Bearer ' + process.env.TENDRIL_API_KEY }
request(process.env.TENDRIL_API_URL + '/api/v1/growth/items?limit=5', { headers }, (reply) => reply.pipe(process.stdout)).end()
`

/** The peer only starts Node, or only sends the request. */
export async function cli(
  world: World,
  { rounds, withBinary }: { rounds: number; withBinary: boolean },
): Promise<Row[]> {
  await using folder = await temporaryFolder()
  const file = async (name: string, text: string) => {
    await Bun.write(join(folder.path, name), text)
    return join(folder.path, name)
  }
  const [empty, get] = [await file('empty.mjs', EMPTY), await file('get.mjs', GET)]
  const bundle = ['node', await buildCli(join(folder.path, 'cli'))]
  const binary = withBinary
    ? [await build(join(import.meta.dir, '../../../src/main.ts'), join(folder.path, 'tendril'))]
    : undefined
  const tenant = world.tenants[0]!
  await addDrafts(world.owner, [tenant], 5)
  await using server = await startServer(world)
  const env = {
    HOME: folder.path,
    TENDRIL_API_URL: `http://127.0.0.1:${server.port}`,
    TENDRIL_API_KEY: tenant.key,
  }
  const contest = async (what: string, peer: [string, string], argv: string[]): Promise<Row[]> => {
    const own = [['Node', bundle] as const, ...(binary ? [['the binary', binary] as const] : [])]
    const contestants = [
      { name: peer[0], command: ['node', peer[1]], runs: [] },
      ...own.map(([name, command]) => ({ name, command: [...command, ...argv], runs: [] })),
    ]
    await race(contestants, env, rounds)
    return rowsOf(what, contestants)
  }
  return [
    ...(await contest('tendril --version', ['node empty.mjs', empty], ['--version'])),
    ...(await contest(
      'tendril items approve --help',
      ['node empty.mjs', empty],
      ['items', 'approve', '--help'],
    )),
    ...(await contest(
      'tendril items list --limit 5',
      ['a bare GET under Node', get],
      ['items', 'list', '--limit', '5', '--json'],
    )),
  ]
}
