/**
 * A request whose list is worked through by several letters: none holds the workspace up for long,
 * and each commits for itself.
 */
import { createHash } from 'node:crypto'
import type { Answer } from '#actors/engine/letter'
import type { Command } from './command.ts'

/** How many letters a call takes. */
export const lettersOf = ({ inParts }: Command['o'], input: unknown): number =>
  inParts
    ? Math.max(
        1,
        Math.ceil((input as Record<string, unknown[]>)[inParts.field]!.length / inParts.most),
      )
    : 1

/** The key of a later part: the same for the same request, and never longer than a key may be. */
const keyOfPart = (key: string, first: number): string =>
  `part ${first} ${createHash('sha256').update(key).digest('hex')}`

/** The lists of the answers, one after the other. */
const joinAnswers = (answers: Answer[]): string => {
  const bodies = answers.map(({ body }) => JSON.parse(body) as Record<string, unknown[]>)
  return JSON.stringify(
    Object.fromEntries(
      Object.keys(bodies[0]!).map((name) => [name, bodies.flatMap((body) => body[name]!)]),
    ),
  )
}

/**
 * Runs a command once for each part of its list. A part that fails ends the request, and those
 * before it stay done: under the same Idempotency-Key a repetition replays their answers and goes
 * on.
 */
export const runInParts = async (
  command: Command,
  run: (part: Command) => Promise<Answer>,
): Promise<Answer> => {
  const { o, call } = command
  const { field, most } = o.inParts!
  const whole = command.input as Record<string, unknown[]>
  const answers: Answer[] = []
  for (let first = 0; first < whole[field]!.length; first += most) {
    const key = call.idempotencyKey
    const part = { ...whole, [field]: whole[field]!.slice(first, first + most) }
    const keyed =
      key === undefined || first === 0 ? call : { ...call, idempotencyKey: keyOfPart(key, first) }
    answers.push(await run({ ...command, whole, input: part, call: keyed }))
  }
  const { replayed: _, ...last } = answers.at(-1)!
  return {
    ...last,
    body: joinAnswers(answers),
    ...(answers.every(({ replayed }) => replayed) ? { replayed: true } : {}),
  }
}
