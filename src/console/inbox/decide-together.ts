import { errorWords } from '../api/errors.ts'
import { command, queryClient } from '../api/queries.ts'
import { decidesTogether } from './together.ts'

export const decideTogether = decidesTogether({
  send: (input) => command('growth.items.bulk', input),
  words: errorWords,
  readAgain: () => queryClient.invalidateQueries(),
})
