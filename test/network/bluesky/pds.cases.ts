import { pdsCases } from '#test/cases/pds'
import { realPds } from './real.ts'

pdsCases('a real PDS', realPds())
