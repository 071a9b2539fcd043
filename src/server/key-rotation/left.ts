/** Values that may need the old key: as long as there are any, it is not dropped. */
import { fail } from '#kernel/errors'
import { countUnder } from '#store/secret/sealed-values'
import { type Steps, sealedPlaces, stepIn } from './steps.ts'

/** How many places are named. */
const NAMED = 10

/** What nobody can set anew. */
const OWN_END: Readonly<Record<string, string>> = {
  'idempotency.body': 'a stored answer, goes by itself within a day',
  'channel_reply.secret': 'a code in a reply, goes once its reply is sent, discarded or removed',
}

/** What is left, and where. */
export class LeftValues {
  total = 0
  #places = 0
  readonly #named: string[] = []
  readonly #columns = new Set<string>()

  add(place: string, counted: Record<string, number>): void {
    for (const [column, values] of Object.entries(counted)) {
      this.total += values
      this.#columns.add(column)
      if (++this.#places <= NAMED) this.#named.push(`${values} in ${column} of ${place}`)
    }
  }

  /** What to do about them. */
  remedy(): string {
    const ends = Object.entries(OWN_END).filter(([column]) => this.#columns.has(column))
    const others = this.#columns.size > ends.length
    return [
      ...(others ? ['Set them anew or delete them in their workspaces'] : []),
      ...ends.map(([column, end]) => `${column}, ${end}`),
      'Then run this again',
    ].join('. ')
  }

  toString(): string {
    const more = this.#places - this.#named.length
    return this.#named.join(', ') + (more > 0 ? `, and in ${more} more places` : '')
  }
}

/** Adds what is left in a workspace, or of the deployment. */
export const addLeft = async (
  steps: Steps,
  left: LeftValues,
  { place, old }: { place: string; old: string },
): Promise<void> => {
  const counted = await stepIn(steps, place, (sql) => countUnder(sql, place, old))
  left.add(place, counted)
}

/** Goes over the deployment and all workspaces. */
export const leftUnder = async (steps: Steps, old: string): Promise<LeftValues> => {
  const left = new LeftValues()
  for await (const place of sealedPlaces(steps)) await addLeft(steps, left, { place, old })
  return left
}

/** Throws if a rotation has left something that no key opened. */
export const refuseUnopened = (old: string, left: LeftValues): void => {
  if (left.total > 0)
    fail(
      'conflict',
      `${left.total} values that name the old key ${old}, or no key, do not open, so the old key stays: ${left}. ${left.remedy()}`,
      { reason: 'wrong_state' },
    )
}

/** Throws before the old key is dropped, if anything may need it. */
export const refuseLeft = (old: string, left: LeftValues): void => {
  if (left.total > 0)
    fail(
      'conflict',
      `${left.total} values name the old key ${old}, or no key: ${left}. Run \`tendril admin secret rotate\`, which seals them anew, or says what does not open`,
      { reason: 'wrong_state' },
    )
}
