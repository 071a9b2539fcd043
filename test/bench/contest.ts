/**
 * Contestants that take turns, in another order each round, so that other load on the machine
 * affects all alike.
 */

import type postgres from 'postgres'
import { type Figures, median, type Peer } from './figures.ts'
import type { Result } from './load.ts'
import { cpuMs, databaseCpuMs, threadsMs } from './meter.ts'
import { type Running, sendOnce } from './spawn.ts'
import type { World } from './world.ts'

export interface Contestant {
  name: string
  /** The process whose time is the server's. */
  pid: number
  run(): Promise<Result>
}

/** One contestant's result in one round, with the processor time of its parts in milliseconds. */
export interface Turn extends Result {
  server: number
  database: number
}

/** One turn, with the processor time that it took. */
export const takeTurn = async <R>(
  owner: postgres.Sql,
  { pid, run }: { pid: number; run(): Promise<R> },
): Promise<R & Pick<Turn, 'server' | 'database'>> => {
  const used = async () =>
    [cpuMs(pid) ?? Number.NaN, (await databaseCpuMs(owner)) ?? Number.NaN] as const
  const before = await used()
  const result = await run()
  const after = await used()
  return { ...result, server: after[0] - before[0], database: after[1] - before[1] }
}

/** The engine's threads that compile. */
const COMPILER = 'JITWorker'
/** The share of a process's time below which its compiler rests. */
const AT_REST = 0.02

const compilerAtRest = async (pid: number, run: () => Promise<unknown>): Promise<boolean> => {
  const [all, compiler] = [cpuMs(pid) ?? 0, threadsMs(pid).get(COMPILER) ?? 0]
  await run()
  const used = (cpuMs(pid) ?? 0) - all
  return (threadsMs(pid).get(COMPILER) ?? 0) - compiler <= AT_REST * used
}

/**
 * Lets a process run uncounted until the engine has compiled its code, `most` times at most. New
 * code is several times slower, and the compiler itself takes processor time. A run should last a
 * second or more, as the system counts hundredths.
 */
export const warmUp = async (
  pid: number,
  run: () => Promise<unknown>,
  most: number,
): Promise<void> => {
  for (let round = 0; round < most; round++) if (await compilerAtRest(pid, run)) return
}

/** The turns of each contestant, in the order given. */
export const takeTurns = async (
  owner: postgres.Sql,
  contestants: Contestant[],
  rounds: number,
): Promise<Turn[][]> => {
  const turns = contestants.map((): Turn[] => [])
  for (let round = 0; round < rounds; round++)
    for (let index = 0; index < contestants.length; index++) {
      const place = (index + round) % contestants.length
      turns[place]!.push(await takeTurn(owner, contestants[place]!))
    }
  return turns
}

const perRequest = (turns: Turn[], part: 'server' | 'database'): number =>
  (turns.reduce((sum, one) => sum + one[part], 0) * 1_000) /
  turns.reduce((sum, one) => sum + one.count, 0)

export const figuresOf = (turns: Turn[]): Figures => {
  const middle = (part: 'perSecond' | 'p50' | 'p99' | 'bytes') =>
    median(turns.map((one) => one[part]))
  return {
    perSecond: middle('perSecond'),
    p50Ms: middle('p50'),
    p99Ms: middle('p99'),
    serverUs: perRequest(turns, 'server'),
    postgresUs: perRequest(turns, 'database'),
    answerBytes: Math.round(middle('bytes')),
  }
}

/** Processor time a request, in the server and in Postgres. */
export const costOf = ({ serverUs = 0, postgresUs = 0 }: Figures): number => serverUs + postgresUs

/** A peer beside us: rates round by round, processor times over all rounds. */
export const peerOf = (name: string, ours: Turn[], theirs: Turn[]): Peer => {
  const figures = figuresOf(theirs)
  return {
    name,
    figures,
    ratio: median(ours.map(({ perSecond }, round) => perSecond / theirs[round]!.perSecond)),
    costRatio: costOf(figures) / costOf(figuresOf(ours)),
  }
}

/** Requests of one caller, one after the other, after a run of all of them that is not counted. */
export const measureOnce = async (
  { owner }: Pick<World, 'owner'>,
  { port, pid }: Running,
  requests: string[],
): Promise<Figures & Pick<Result, 'statuses'>> => {
  const run = () => sendOnce(port, 1, requests)
  await run()
  const turn = await takeTurn(owner, { pid, run })
  const { answerBytes: _, ...figures } = figuresOf([turn])
  return { ...figures, statuses: turn.statuses } as Figures & Pick<Result, 'statuses'>
}
