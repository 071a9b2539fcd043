/** Clocks and response times of the kill switch. */
import type postgres from 'postgres'
import { bump } from '#test/support/actors/letters'
import type { TestApp } from '#test/support/app'

export interface Acknowledged {
  /** When the answer arrived, by the database's clock, in epoch milliseconds. */
  at: number
}

const PROBES = 30

/**
 * How far the database's clock is ahead of this process's, in milliseconds, by the fastest of
 * several probes.
 */
export const databaseOffset = async (owner: postgres.Sql): Promise<number> => {
  let best = { took: Number.POSITIVE_INFINITY, offset: 0 }
  for (let probe = 0; probe < PROBES; probe++) {
    const asked = performance.now()
    const [row] = await owner<
      { ms: number }[]
    >`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
    const answered = performance.now()
    const offset = row!.ms - (performance.timeOrigin + (asked + answered) / 2)
    if (answered - asked < best.took) best = { took: answered - asked, offset }
  }
  return best.offset
}

/** The smallest of the values that at least this share of them does not exceed. */
export const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

export interface MailboxTimes {
  /** In milliseconds, in the order of the samples. */
  times: number[]
  /** Background letters that were refused, so did not fill the mailbox. */
  refused: number
}

/**
 * Times until pause-all of the app's own workspace is answered, each behind so many waiting
 * background letters.
 */
export const fullMailboxTimes = async (
  app: TestApp,
  { samples, letters }: { samples: number; letters: number },
): Promise<MailboxTimes> => {
  let refused = 0
  const waiting = new Set<Promise<void>>()
  const letter = { ...bump('full'), priority: 'background' as const }
  const fill = (): void => {
    while (waiting.size < letters) {
      const posted = app.workplace.runtime.ask(app.tenantId, letter).then(
        () => {},
        () => {
          refused++
        },
      )
      waiting.add(posted)
      void posted.then(() => waiting.delete(posted))
    }
  }
  const times: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    fill()
    // Lets the letters reach the mailbox, where they wait from here on.
    await Bun.sleep(0)
    const asked = performance.now()
    const reply = await app.send('POST', 'automation/pause-all')
    times.push(performance.now() - asked)
    if (reply.status !== 200) throw new Error(`pause-all: ${reply.status} ${reply.text}`)
    await app.send('POST', 'automation/resume-all')
  }
  await Promise.all(waiting)
  return { times, refused }
}
