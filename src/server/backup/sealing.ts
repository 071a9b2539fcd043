/**
 * Encryption of a stream of any length: AES-256-GCM in frames of 64 KiB. The number of a frame, and
 * whether it is the last, are in its nonce, and the head is bound to every frame. So whatever is
 * altered, reordered, repeated, appended or cut off is noticed.
 *
 * The head: the magic line; the cost of the key (memory in KiB as 32 bits, passes, lanes); the salt
 * of the passphrase, the salt of this stream, and a check of the key, 16 bytes each.
 */
import { createCipheriv, createDecipheriv, randomBytes, timingSafeEqual } from 'node:crypto'
import { fail } from '#kernel/errors'
import { type Cost, keyFor, MOST_COST, passphraseKey, USUAL_COST } from './passphrase.ts'

export const SEALED_MAGIC = Buffer.from('TENDRIL-SEALED-1\n')

const FRAME_BYTES = 65_536
const TAG_BYTES = 16
const SALT_BYTES = 16
const NONCE_BYTES = 12
const COST_AT = SEALED_MAGIC.length
const SALT_AT = COST_AT + 6
const STREAM_AT = SALT_AT + SALT_BYTES
const CHECK_AT = STREAM_AT + SALT_BYTES
export const SEALED_HEAD_BYTES = CHECK_AT + SALT_BYTES
const AES = 'aes-256-gcm'

/** All streams of one backup share the passphrase's key, which takes a third of a second. */
export interface Seal {
  salt: Buffer
  key: Buffer
  cost: Cost
}

export const newSeal = async (passphrase: string, cost = USUAL_COST): Promise<Seal> => {
  const salt = randomBytes(SALT_BYTES)
  return { salt, key: await passphraseKey(passphrase, salt, cost), cost }
}

const checkOf = (key: Buffer, salt: Buffer): Buffer =>
  keyFor(key, salt, 'check').subarray(0, SALT_BYTES)

/** A stream is bound to its name, so that two of them cannot change places. */
const frameKey = (key: Buffer, stream: Buffer, name: string): Buffer =>
  keyFor(key, stream, `frames of ${name}`)

const nonceOf = (frame: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(frame, NONCE_BYTES - 7, 6)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

/**
 * Cuts a stream into pieces of `size` bytes. The last one is marked; it may be shorter, and is
 * empty if the stream is.
 */
async function* pieces(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let [waiting, length]: [Uint8Array[], number] = [[], 0]
  for await (const chunk of bytes) {
    waiting.push(chunk)
    length += chunk.length
    if (length <= size) continue
    const all = Buffer.concat(waiting)
    let at = 0
    // What is left has at least one byte, so none of these is the last piece.
    for (; length - at > size; at += size)
      yield { piece: all.subarray(at, at + size), isLast: false }
    const rest = all.subarray(at)
    ;[waiting, length] = [[rest], rest.length]
  }
  yield { piece: Buffer.concat(waiting), isLast: true }
}

export async function* sealed(
  bytes: AsyncIterable<Uint8Array>,
  { salt, key, cost }: Seal,
  name: string,
): AsyncGenerator<Uint8Array> {
  const stream = randomBytes(SALT_BYTES)
  const costs = Buffer.alloc(SALT_AT - COST_AT)
  costs.writeUInt32BE(cost.memoryKib)
  costs.set([cost.passes, cost.lanes], 4)
  const head = Buffer.concat([SEALED_MAGIC, costs, salt, stream, checkOf(key, salt)])
  yield head
  const own = frameKey(key, stream, name)
  let frame = 0
  for await (const { piece, isLast } of pieces(bytes, FRAME_BYTES)) {
    const cipher = createCipheriv(AES, own, nonceOf(frame++, isLast)).setAAD(head)
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()])
  }
}

const costIn = (head: Buffer): Cost => ({
  memoryKib: head.readUInt32BE(COST_AT),
  passes: head[COST_AT + 4]!,
  lanes: head[COST_AT + 5]!,
})

const isBearable = ({ memoryKib, passes, lanes }: Cost): boolean =>
  passes >= 1 &&
  lanes >= 1 &&
  memoryKib >= 8 * lanes &&
  memoryKib <= MOST_COST.memoryKib &&
  passes <= MOST_COST.passes &&
  lanes <= MOST_COST.lanes

/** Opens the streams of a backup. */
export class Unsealing {
  readonly #keys = new Map<string, Promise<Buffer>>()

  constructor(private readonly passphrase: string) {}

  #keyOf(salt: Buffer, cost: Cost): Promise<Buffer> {
    const place = `${salt.toString('hex')} ${JSON.stringify(cost)}`
    // A folder that was altered may have a salt of its own in every file.
    if (this.#keys.size > 0 && !this.#keys.has(place))
      fail('invalid_input', 'the files of the backup were encrypted in different runs')
    return this.#keys.getOrInsertComputed(place, () => passphraseKey(this.passphrase, salt, cost))
  }

  /** `rest` is what follows the head; `says` is what errors call the stream. */
  async *open(
    head: Buffer,
    rest: AsyncIterable<Uint8Array>,
    { name, says }: { name: string; says: string },
  ): AsyncGenerator<Uint8Array> {
    const cost = head.length === SEALED_HEAD_BYTES ? costIn(head) : undefined
    if (!cost || !isBearable(cost))
      return fail('invalid_input', `${says} is damaged: its encryption has no valid head`)
    const [salt, stream] = [head.subarray(SALT_AT, STREAM_AT), head.subarray(STREAM_AT, CHECK_AT)]
    const key = await this.#keyOf(salt, cost)
    if (!timingSafeEqual(checkOf(key, salt), head.subarray(CHECK_AT)))
      fail('invalid_input', 'the passphrase is wrong, or the first bytes of the backup are damaged')
    const own = frameKey(key, stream, name)
    let frame = 0
    for await (const { piece, isLast } of pieces(rest, FRAME_BYTES + TAG_BYTES))
      yield openFrame({ own, head, piece, nonce: nonceOf(frame++, isLast) }) ??
        fail(
          'invalid_input',
          `${says} was altered or cut off: frame ${frame} of its encryption does not fit`,
        )
  }
}

interface Frame {
  own: Buffer
  head: Buffer
  piece: Buffer
  nonce: Buffer
}

const openFrame = ({ own, head, piece, nonce }: Frame): Buffer | undefined => {
  if (piece.length < TAG_BYTES) return undefined
  const end = piece.length - TAG_BYTES
  const decipher = createDecipheriv(AES, own, nonce).setAAD(head).setAuthTag(piece.subarray(end))
  try {
    return Buffer.concat([decipher.update(piece.subarray(0, end)), decipher.final()])
  } catch {
    return undefined
  }
}
