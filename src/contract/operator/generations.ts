/** Generations of any kind, as the surfaces stop them: commands between processes, in no document and on no surface. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, record } from '../shapes.ts'

const Generation = record({
  id: Id,
  status: T.String({ description: 'As the record has it; failed once it is cancelled.' }),
  error: nullable(T.String()),
})

export const generations = {
  cancel: op.command(
    'POST /operator/generations/:id/cancel',
    'Cancel a generation that is not over: it ends as cancelled, and its quota comes back. One that is over stays as it is.',
    { input: { id: Id }, output: record({ generation: Generation }) },
    { errors: ['not_found'], roles: ['editor'], urgent: true, repeatable: true },
  ),
}
