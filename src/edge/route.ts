/** Routes that are not operations. They take forms, and answer in formats of their own. */
import { PUBLIC_BODY_LIMIT } from '#contract/kinds'
import type { BodyTerms, Incoming } from './incoming.ts'

export interface Route {
  method: 'GET' | 'POST'
  path: string
  /** Never rejects. Answers errors in the route's own format. */
  respond(incoming: Incoming): Promise<Response>
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

export type Form = Record<string, string>

/** The body is not a valid form. */
export class FormError extends Error {
  override readonly name = 'FormError'
}

/**
 * The fields of a form, without the empty ones. Throws `FormError` and the errors of
 * `Incoming.text`.
 */
export const readForm = async (
  incoming: Incoming,
  terms: BodyTerms = { limit: PUBLIC_BODY_LIMIT },
): Promise<Form> => {
  const text = await incoming.text(terms)
  if (!FORM_TYPE.test(incoming.request.headers.get('content-type') ?? ''))
    throw new FormError('send the body as application/x-www-form-urlencoded')
  const form: Form = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(form, name)) throw new FormError(`${name} must not be given twice`)
    if (value.includes('\0')) throw new FormError(`${name} contains a NUL character`)
    form[name] = value
  }
  for (const [name, value] of Object.entries(form)) if (value === '') delete form[name]
  return form
}
