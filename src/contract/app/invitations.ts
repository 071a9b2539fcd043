import { Type as T } from '@sinclair/typebox'
import { door } from '../op.ts'
import { record } from '../shapes.ts'
import { Delivery, Email, NewPassword, SignedIn } from './session.ts'

export const invitations = {
  accept: door(
    'POST /api/v1/app/invitations/accept',
    'Accept an invitation by the token of its link, and be signed in. Whoever has an account already gives its password, and joins with it.',
    {
      input: {
        token: T.String({ minLength: 20, maxLength: 200 }),
        email: T.Optional(Email),
        password: NewPassword,
        name: T.Optional(T.String({ maxLength: 160 })),
        delivery: T.Optional(Delivery),
      },
      output: record({ session: SignedIn }),
    },
    { scope: 'public', status: 201, errors: ['unauthenticated', 'rate_limited', 'not_found', 'conflict'] },
  ),
}
