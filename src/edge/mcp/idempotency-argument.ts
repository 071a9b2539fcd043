/**
 * The idempotency key of a call. Clients set it in `_meta`. A model can only write arguments, so it
 * uses the argument that the list adds to every tool that changes something.
 */
import { readsOnly } from '#contract/op'
import { refuseField } from '#kernel/errors'
import type { Operation } from '#ops/engine/bind'
import { isCapability } from './capabilities.ts'

const META = 'tendril/idempotency-key'
export const ARGUMENT = 'idempotency_key'

interface Given {
  arguments: unknown
  meta: Record<string, unknown> | undefined
  /** For capabilities: the key by which a call is found again after a person was asked about it. */
  asked: string
}

interface Keyed {
  input: unknown
  key: string | undefined
}

const textIn = (value: unknown, path: string): string | undefined =>
  value === undefined || typeof value === 'string' ? value : refuseField(path, 'must be text')

const keyInMeta = (meta: Record<string, unknown> = {}): string | undefined => {
  const key = meta[META] ?? meta.idempotencyKey
  return key === undefined || typeof key === 'string'
    ? key
    : refuseField(META, 'in _meta must be text')
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether the tool list offers the argument. */
export const offersKey = (o: Pick<Operation, 'method' | 'kind'>): boolean => !readsOnly(o)

/**
 * The input without the argument, and the key. Throws `invalid_input` if there are two different
 * keys.
 */
export const keyedCall = (o: Operation, { arguments: given = {}, meta, asked }: Given): Keyed => {
  if (!offersKey(o) && !isCapability(o)) return { input: given, key: undefined }
  const { [ARGUMENT]: own, ...input } = isFields(given) ? given : { [ARGUMENT]: undefined }
  const [fromMeta, argument] = [keyInMeta(meta), textIn(own, ARGUMENT)]
  if (fromMeta !== undefined && argument !== undefined && fromMeta !== argument)
    refuseField(ARGUMENT, `differs from ${META} in _meta: give one of them`)
  return {
    input: isFields(given) ? input : given,
    key: argument ?? fromMeta ?? (isCapability(o) ? asked : undefined),
  }
}
