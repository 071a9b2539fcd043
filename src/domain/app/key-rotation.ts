/** When the secret key may be rotated, and when the old one may be dropped. */
import { neededKeys, type SecretKeyRow } from '#kernel/secret-keys'

/** A living process. Keys are named by their fingerprints. */
export interface KeyedNode {
  id: string
  url: string
  /** The keys that it knows. */
  known: readonly string[]
  /** The key that it makes new values under. */
  newest: string | null
  /** The key that the logins of its pools are derived from, if they are. */
  login: string | null
  /** All that it had begun under another key is stored. */
  settled: boolean
}

interface RotationPlace {
  rows: readonly SecretKeyRow[]
  nodes: readonly KeyedNode[]
}

interface Wish extends RotationPlace {
  /** The key that new values are made under now. */
  newest: string
  /** A key that the database has not seen. */
  candidate: string | undefined
  /** Go back to the old key of a rotation that is not over. */
  back: boolean
}

/** `begin`: from now on, new values are made under `to`. `continue`: they are already. */
export type RotationStart =
  | { kind: 'begin'; from: string; to: string }
  | { kind: 'continue'; to: string }
  | { kind: 'refused'; why: string }

export const keyInState = (
  rows: readonly SecretKeyRow[],
  wanted: SecretKeyRow['state'],
): string | undefined => rows.find(({ state }) => state === wanted)?.fingerprint

const refused = (why: string): RotationStart => ({ kind: 'refused', why })

const placeOf = ({ id, url }: KeyedNode): string => `server ${id} at ${url}`

const begin = (from: string, to: string, { nodes }: RotationPlace): RotationStart => {
  const ignorant = nodes.filter(({ known }) => !known.includes(to))
  return ignorant.length === 0
    ? { kind: 'begin', from, to }
    : refused(
        `${ignorant.map(placeOf).join(', ')} ${ignorant.length === 1 ? 'does' : 'do'} not know the key ${to}: start every server with both keys, and rotate then`,
      )
}

/** What `rotate` does. */
export const rotationStart = (wish: Wish): RotationStart => {
  const { rows, newest, candidate, back } = wish
  const old = keyInState(rows, 'old')
  if (old !== undefined && back) return begin(newest, old, wish)
  if (back) return refused('no rotation is under way that could go back')
  if (old !== undefined && candidate !== undefined)
    return refused(
      `the rotation to ${newest} is not over: drop the old key before you rotate to ${candidate}`,
    )
  if (old !== undefined) return { kind: 'continue', to: newest }
  if (candidate === undefined)
    return refused(
      'there is no next key: set TENDRIL_SECRET_KEY_NEXT on all servers, or with an embedded database make one by `tendril admin secret generate`; a key that was dropped never comes back',
    )
  return begin(newest, candidate, wish)
}

/** The processes that still make values under another key than the new one. */
export const unsettled = ({ rows, nodes }: RotationPlace): string[] => {
  const key = keyInState(rows, 'new')
  return nodes.filter(({ newest, settled }) => newest !== key || !settled).map(placeOf)
}

/** What still needs the old key, apart from sessions. Empty if nothing does. */
export const needsOfOld = (place: RotationPlace): string[] => {
  const { rows, nodes } = place
  const old = keyInState(rows, 'old')
  if (old === undefined) return []
  const isSealed = !neededKeys(rows).includes(old)
  const late = unsettled(place).map((one) => `${one} has made values under it until just now`)
  const entered = nodes
    .filter(({ login }) => login === old)
    .map((node) => `${placeOf(node)} is still connected with logins derived from it: restart it`)
  return [
    ...(isSealed ? [] : ['values are sealed under it: run `tendril admin secret rotate`']),
    ...late,
    ...entered,
  ]
}
