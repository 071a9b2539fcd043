/** What is served beside the operations: with forms for input, and answers in other forms than ours. */
import { PUBLIC_BODY_LIMIT } from '#contract/kinds'
import type { Incoming } from './incoming.ts'

export interface Route {
  method: 'GET' | 'POST'
  path: string
  /** Answers its own errors in its own form. */
  respond(incoming: Incoming): Promise<Response>
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

export type Form = Record<string, string>

/** Why a body is no form. */
export class FormError extends Error {
  override readonly name = 'FormError'
}

/** The fields of a form. Those left empty are absent. Throws FormError; `payload_too_large` and `invalid_input` as `Incoming.text` does. */
export const readForm = async (incoming: Incoming): Promise<Form> => {
  const text = await incoming.text({ limit: PUBLIC_BODY_LIMIT })
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
