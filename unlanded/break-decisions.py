def sub(p, a, b):
    s=open(p).read(); assert a in s,(p,a); open(p,'w').write(s.replace(a,b,1))
sub('vyre/src/fused.rs','''        if self.stops.steps.is_some() {
            self.go_first();
            return;
        }
''','')
sub('vyre-cuda/src/megakernel.rs','self.settings.lists_alone = hint.sweeps.start.is_sparse();','')
sub('vyre-cuda/src/megakernel.rs','hint.workers.clamp(1, self.slots())','self.slots()')
sub('vyre/src/plans.rs','kind: layout.of.kind,','kind: PlanKind::Session,')
sub('vyre/src/plans.rs','            of,\n            nodes','            of: PlanOf { kind: PlanKind::Session, ..of },\n            nodes')
sub('vyre-core/src/run/fused.rs','None => first.lists.push((id, columns)),','None => {}')
sub('vyre/src/decide.rs','readback_bytes: last.found_bytes.max(output_bytes),','readback_bytes: 0,')
