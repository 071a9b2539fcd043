/** Cancelling a generation of any kind. Internal: in no document and on no surface. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, record } from '../shapes.ts'

const Generation = record({
  id: Id,
  status: T.String({ description: 'The status of the record; failed once it is cancelled.' }),
  error: nullable(T.String()),
})

export const generations = {
  cancel: op.command(
    'POST /operator/generations/:id/cancel',
    'Cancel a generation. It ends as cancelled, and its quota is returned. A settled generation stays unchanged.',
    { input: { id: Id }, output: record({ generation: Generation }) },
    { errors: ['not_found'], roles: ['editor'], urgent: true, repeatable: true },
  ),
}
