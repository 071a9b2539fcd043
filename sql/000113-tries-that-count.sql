-- How many failures a try by tried_by is, should that process lose the workspace or die before it has ended. None, if that process was young: then
-- somebody may be killing one process after the other. A negative number counts the young ones before it: after a few, the row waits for another.
alter table work add column charge smallint not null default 0;
